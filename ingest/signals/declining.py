"""Whether logged answers decline, for whole columns at once."""

from collections.abc import Sequence

from evalsets.refusals import read_refusal


def decline_kinds(answers: Sequence[str | None]) -> list[str | None]:
    """Return `abstention`, `policy` or `partial` for each answer that declines, else None."""
    known: dict[str, str | None] = {}
    kinds: list[str | None] = []
    for answer in answers:
        if answer is None:
            kinds.append(None)
            continue
        if answer not in known:
            kind = str(read_refusal(answer).kind)
            known[answer] = None if kind == "none" else kind
        kinds.append(known[answer])
    return kinds
