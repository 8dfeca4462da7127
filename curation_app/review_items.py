"""What passes between the review store and whoever uses it: an item as a reviewer sees it, and a decision on it."""

from datetime import datetime
from typing import NamedTuple

from curation_app.labels import DecisionKind, LabelContent, LabelEvent
from curation_app.review_groups import GroupOffer
from evalsets.errors import ErrataError
from evalsets.items import Author, AuthorKind, Source
from ingest.mining.candidates import Candidate


class ClaimLostError(ErrataError):
    """Someone else holds the item by now; what was typed is kept as a draft."""


class ReviewItem(NamedTuple):
    """A candidate as one reviewer sees it; `token` names this showing of it."""

    candidate: Candidate
    case_source: Source
    draft: LabelContent
    token: str
    held_by: str
    """Who else holds it; empty when this reviewer does."""
    saved_at: datetime | None
    decision: LabelEvent | None
    """This reviewer's current decision, if there is one."""
    undoable: LabelEvent | None
    """What an undo of this reviewer would take back."""
    offer: GroupOffer | None = None
    """The group of what was just labelled, when others of it still wait."""


class Decision(NamedTuple):
    """What a reviewer decided on one showing of a candidate."""

    candidate_id: str
    reviewer: str
    kind: DecisionKind
    content: LabelContent
    token: str
    """Of the showing; a second decision with the same token adds nothing."""
    author_kind: AuthorKind = AuthorKind.HUMAN
    undoes: str = ""

    @property
    def author(self) -> Author:
        """Who decided."""
        return Author(name=self.reviewer, kind=self.author_kind)

    def as_event(self, created_at: datetime) -> LabelEvent:
        """Return the event that is appended for it."""
        return LabelEvent(
            seq=0,
            token=self.token,
            candidate_id=self.candidate_id,
            author=self.author,
            kind=self.kind,
            content=self.content,
            undoes=self.undoes,
            created_at=created_at,
        )


class DraftSaved(NamedTuple):
    """When a field was written, and who else holds the item, if anyone."""

    saved_at: datetime
    held_by: str
