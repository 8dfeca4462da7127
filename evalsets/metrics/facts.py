"""Facts in a text: a fact is a tuple of alternatives, any one of which counts."""

from collections.abc import Sequence

from evalsets.words import phrase_in, token_text


def missing_facts(facts: Sequence[tuple[str, ...]], *texts: str) -> tuple[tuple[str, ...], ...]:
    """Return the facts none of whose alternatives stands, as whole words, in one of the texts; both are folded."""
    padded = [token_text(text) for text in texts]
    return tuple(
        fact for fact in facts if not any(phrase_in(text, alternative) for alternative in fact for text in padded)
    )


def share_of_facts(facts: Sequence[tuple[str, ...]], *texts: str) -> float | None:
    """Return the share of facts that stand in one of the texts; None without facts."""
    return 1 - len(missing_facts(facts, *texts)) / len(facts) if facts else None
