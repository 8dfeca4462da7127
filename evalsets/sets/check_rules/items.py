"""Rules about one item at a time."""

from collections.abc import Iterator

from evalsets.items import Item, Mode
from evalsets.personal_details import find_personal_details
from evalsets.sets.check_rules.finding import Context, Finding, error, warning
from evalsets.words import contains_phrase, phrase_in, token_text


def required_fields(context: Context) -> Iterator[Finding]:
    """Find items without the question, gold or expectation that their mode needs, and gold where there can be none."""
    for item in context.eval_set.items:
        if not item.question.strip():
            yield error("empty-question", "the question is empty", item.id)
        if item.mode is Mode.OUT_OF_SCOPE and item.gold_chunk_ids:
            yield error(
                "gold-out-of-scope",
                f"out of scope says the corpus does not hold the answer, yet gold is {', '.join(item.gold_chunk_ids)}",
                item.id,
            )
        if item.is_answerable and not item.gold_chunk_ids:
            yield error("empty-gold", f"{item.mode} needs at least one gold chunk", item.id)
        if item.is_answerable and not item.expected.strip() and not item.answer_facts:
            yield error("empty-expected", f"{item.mode} needs an expected answer or a fact", item.id)


def contradictions_within(context: Context) -> Iterator[Finding]:
    """Find items that ask for a phrase they forbid, and facts that say nothing."""
    for item in context.eval_set.items:
        if (
            any(not alternative.strip() for fact in item.answer_facts for alternative in fact)
            or () in item.answer_facts
        ):
            yield error("empty-fact", "a fact is empty, so no answer could contain it", item.id)
        for phrase in item.forbidden:
            if item.expected and contains_phrase(item.expected, phrase):
                yield error("contradiction", f"the expected answer contains the forbidden phrase {phrase!r}", item.id)
            clashing = [fact for fact in item.answer_facts if all(contains_phrase(one, phrase) for one in fact)]
            if clashing:
                yield error("contradiction", f"the fact {clashing[0][0]!r} contains what is forbidden", item.id)


def personal_details(context: Context) -> Iterator[Finding]:
    """Find personal details in what would be committed; what the gold itself says, such as a hotline, is none."""
    for item in context.eval_set.items:
        for field, text in _texts(item):
            for detail in find_personal_details(text):
                if detail.found in _gold_text(context, item):
                    continue
                yield error(
                    "personal-details", f"{field} holds what looks like a {detail.kind} ({detail.shown})", item.id
                )


def _gold_text(context: Context, item: Item) -> str:
    known = [context.texts.get(gold.text_hash, "") for gold in item.gold_chunks]
    held = [chunk.text for id_ in item.gold_chunk_ids if (chunk := (context.corpus or {}).get(id_)) is not None]
    return "\n".join(known + held)


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    yield from (("question", item.question), ("expected", item.expected), ("note", item.note))
    yield from (("a fact", alternative) for fact in item.answer_facts for alternative in fact)
    if item.logged is not None:
        yield "the logged answer", item.logged.answer


def cannot_catch_its_failure(context: Context) -> Iterator[Finding]:
    """Find items that the answer logged as bad would pass: they could never catch their own failure."""
    for item in context.eval_set.items:
        if item.mode is Mode.CONTROL or item.logged is None or not item.logged.answer.strip():
            continue
        if _passes_own_check(item, item.logged.answer):
            yield warning(
                "passes-own-check",
                "the answer that was logged as bad would pass this item; add the fact it gets wrong",
                item.id,
            )


def _passes_own_check(item: Item, answer: str) -> bool:
    if item.mode is Mode.OUT_OF_SCOPE:
        from evalsets.refusals import detect_refusal

        return detect_refusal(answer).kind == "abstention"
    padded = token_text(answer)
    if any(phrase_in(padded, phrase) for phrase in item.forbidden):
        return False
    if item.answer_facts:
        return all(any(phrase_in(padded, one) for one in fact) for fact in item.answer_facts)
    return phrase_in(padded, item.expected)


ITEM_RULES = (required_fields, contradictions_within, personal_details, cannot_catch_its_failure)
