"""The eval item: one labelled case of an eval set, as it stands in the set file."""

from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evalsets.chunks import canonical_chunk_id


class Mode(StrEnum):
    """What went wrong first, and so which team mends it; `control` marks a case that passed in production."""

    RETRIEVAL_MISS = "retrieval_miss"
    GROUNDING_FAILURE = "grounding_failure"
    REFUSAL = "refusal"
    OUT_OF_SCOPE = "out_of_scope"
    CONTROL = "control"


FAILURE_MODES = (Mode.RETRIEVAL_MISS, Mode.GROUNDING_FAILURE, Mode.REFUSAL, Mode.OUT_OF_SCOPE)


class Source(StrEnum):
    """Where a case comes from."""

    PRODUCTION = "production"
    SUPPORT = "support"
    SYNTHETIC = "synthetic"


class Split(StrEnum):
    """Which part of the set an item belongs to, drawn once when it is first frozen."""

    DEV = "dev"
    HOLDOUT = "holdout"


class AuthorKind(StrEnum):
    """What kind of author made a judgement."""

    HUMAN = "human"
    MODEL = "model"
    RULE = "rule"


class StrictModel(BaseModel):
    """Base of all that is written to disk: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Author(StrictModel):
    """Who made a judgement."""

    name: str = Field(min_length=1)
    kind: AuthorKind = AuthorKind.HUMAN


class GoldChunk(StrictModel):
    """A gold chunk as it was when a person picked it."""

    chunk_id: str = Field(min_length=1)
    doc_id: str = ""
    text_hash: str = ""


class Sampling(StrictModel):
    """How the case came to be looked at; `probability` is its chance of inclusion, in (0, 1]."""

    signal: str
    probability: float = Field(gt=0, le=1)


class Origin(StrictModel):
    """Salted hashes of the session and interaction a case was taken from."""

    session: str = ""
    interaction: str = ""


class Logged(StrictModel):
    """What production retrieved and answered when the case was logged; never ground truth."""

    answer: str
    retrieved_chunk_ids: tuple[str, ...] = ()


class PlantedChunk(StrictModel):
    """A hostile chunk the runner mixes into what the pipeline retrieves (hidden instruction, poisoned fact)."""

    chunk_id: str = Field(min_length=1)
    text: str = Field(min_length=1)


def _as_alternatives(value: object) -> object:
    return (value,) if isinstance(value, str) else value


ChunkId = Annotated[str, BeforeValidator(canonical_chunk_id)]
Fact = Annotated[tuple[str, ...], BeforeValidator(_as_alternatives)]
"""A fact the answer must contain: any one of its alternatives counts. A plain string is one alternative."""


class Item(StrictModel):
    """One case of an eval set. The first seven fields are the essential ones."""

    id: str = Field(min_length=1)
    question: str
    gold_chunk_ids: tuple[ChunkId, ...] = ()
    expected: str = ""
    mode: Mode
    added_on: date
    source: Source

    gold_chunks: tuple[GoldChunk, ...] = ()
    answer_facts: tuple[Fact, ...] = ()
    forbidden: tuple[str, ...] = ()
    sub_code: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    topic: str = ""
    group: str = ""
    last_reviewed_on: date | None = None
    sampling: Sampling | None = None
    origin: Origin | None = None
    labelled_by: Author | None = None
    reviewed_by: Author | None = None
    note: str = ""
    split: Split | None = None
    logged: Logged | None = None
    planted: tuple[PlantedChunk, ...] = ()
    label_digest: str = ""
    """Digest of the label this item was frozen from, so that a freeze tells a newer label from one it has seen."""

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus holds the answer, so that declining is a failure."""
        return self.mode is not Mode.OUT_OF_SCOPE
