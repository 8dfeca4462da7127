"""What a judge says of one answer, as it is journalled and reported."""

from typing import Annotated

from pydantic import Field

from evalsets.items import StrictModel

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A share in [0, 1]; NaN, infinities and 7.0 are faults, never scores."""


class ClaimVerdict(StrictModel):
    """One claim of the answer, and the words of the retrieved text that carry it (empty: nothing does)."""

    claim: str
    supported: bool
    quote: str = ""


class Verdict(StrictModel):
    """A pass or a failure with the reason in words; an aspect the judge did not look at is None."""

    passed: bool
    note: str = ""
    correct: bool | None = None
    supported: Share | None = None
    """Share of the answer's claims that the retrieved text carries; None when it claims nothing."""
    relevant: bool | None = None
    declined: bool | None = None
    claims: tuple[ClaimVerdict, ...] = ()
    scores: dict[str, Share] = Field(default_factory=dict)
    """Further figures by the name their maker gives them, such as those of ragas."""
    input_tokens: int = 0
    output_tokens: int = 0
