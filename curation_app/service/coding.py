"""Open coding: the sub-codes that emerged under each mode, with counts and examples; merging and splitting them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from curation_app.labels import DecisionKind
from curation_app.review_store import ReviewStore
from evalsets.errors import BadInputError
from evalsets.items import Mode


class CodeExample(NamedTuple):
    """One label of a sub-code."""

    candidate_id: str
    question: str
    note: str


class CodeUse(NamedTuple):
    """A sub-code under its mode and the labels that carry it."""

    mode: Mode
    code: str
    examples: tuple[CodeExample, ...]


def codes_by_mode(store: ReviewStore) -> dict[Mode, tuple[str, ...]]:
    """Return the sub-codes in use under each mode, most used first."""
    found: dict[Mode, list[tuple[int, str]]] = defaultdict(list)
    for (mode, code), candidates in _uses(store).items():
        if code:
            found[mode].append((-len(candidates), code))
    return {mode: tuple(code for _, code in sorted(codes)) for mode, codes in found.items()}


def code_uses(store: ReviewStore) -> list[CodeUse]:
    """Return every sub-code with its labels; labels without one stand under an empty code."""
    uses = _uses(store)
    ids = sorted({candidate_id for labelled in uses.values() for candidate_id, _ in labelled})
    questions = {candidate.candidate_id: candidate.flagged_turn.question for candidate, _ in store.candidates(ids)}
    return [
        CodeUse(mode, code, tuple(CodeExample(key, questions.get(key, ""), note) for key, note in labelled))
        for (mode, code), labelled in sorted(
            uses.items(), key=lambda each: (each[0][0].value, -len(each[1]), each[0][1])
        )
    ]


def merge_codes(store: ReviewStore, mode: Mode, old: str, new: str, *, reviewer: str) -> None:
    """Read one sub-code as another from now on; the labels themselves stay as they were written."""
    _check_names(old, new)
    store.rename_code(mode, old, new.strip(), reviewer=reviewer)


def split_code(  # noqa: PLR0913 - the parts of a split
    store: ReviewStore, mode: Mode, old: str, new: str, candidate_ids: Sequence[str], *, reviewer: str
) -> None:
    """Move the named labels of one sub-code to another."""
    _check_names(old, new)
    if not candidate_ids:
        raise BadInputError(f"nothing to move out of {old!r}: pick at least one label")
    store.rename_code(mode, old, new.strip(), reviewer=reviewer, candidate_ids=candidate_ids)


def _check_names(old: str, new: str) -> None:
    if not new.strip():
        raise BadInputError("a sub-code needs a name")
    if new.strip() == old:
        raise BadInputError(f"{old!r} is already called that")


def _uses(store: ReviewStore) -> dict[tuple[Mode, str], list[tuple[str, str]]]:
    renames = store.code_renames()
    uses: dict[tuple[Mode, str], list[tuple[str, str]]] = defaultdict(list)
    for candidate_id, events in store.readings().items():
        for event in events:
            mode = event.content.mode
            if event.kind is DecisionKind.LABEL and mode is not None:
                code = renames.current(mode, event.content.sub_code, candidate_id)
                uses[mode, code].append((candidate_id, event.content.note))
    return uses
