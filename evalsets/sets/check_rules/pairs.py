"""Rules about items that ask the same."""

from collections.abc import Iterator

from evalsets.items import Item
from evalsets.near_duplicates import like_pairs
from evalsets.sets.check_rules.finding import Context, Finding, error
from evalsets.words import fold, tokens


def alike_questions(context: Context) -> Iterator[Finding]:
    """Find items that ask the same: twice, with contradicting labels, or on both sides of the split."""
    by_id = context.eval_set.by_id
    for pair in like_pairs({item.id: item.question for item in context.eval_set.items if item.question.strip()}):
        one, other = by_id[pair.first_id], by_id[pair.second_id]
        # Paraphrases kept on purpose share a group and are counted as one; they must still agree.
        if not one.group or one.group != other.group:
            yield _asked_twice(one, other)
        yield from _disagreements(one, other)


def _asked_twice(one: Item, other: Item) -> Finding:
    if tokens(one.question) == tokens(other.question):
        return error("duplicate-question", f"asks the same as {one.id!r}", other.id)
    return error("near-duplicate", f"asks nearly the same as {one.id!r}: {one.question!r}", other.id)


def _disagreements(one: Item, other: Item) -> Iterator[Finding]:
    if one.mode is not other.mode and one.is_answerable is not other.is_answerable:
        yield error("contradiction", f"is {other.mode} while {one.id!r}, which asks the same, is {one.mode}", other.id)
    if one.split is not None and other.split is not None and one.split is not other.split:
        yield error(
            "split-leak", f"is in {other.split} while {one.id!r}, which asks the same, is in {one.split}", other.id
        )


def changed_ids(context: Context) -> Iterator[Finding]:
    """Find questions that now stand under another id, which would cut their history."""
    if context.parent is None:
        return
    now = context.eval_set.by_id
    retired = {entry.item.id for entry in context.eval_set.retired}
    gone = {fold(i.question): i.id for i in context.parent.items if i.id not in now and i.id not in retired}
    before = context.parent.by_id
    for item in context.eval_set.items:
        old_id = gone.get(fold(item.question)) if item.id not in before else None
        if old_id:
            yield error("id-changed", f"was {old_id!r} in version {context.parent.version}; keep that id", item.id)


PAIR_RULES = (alike_questions, changed_ids)
