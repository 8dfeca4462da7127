"""The interactions behind a figure of the monitor, and how one that no signal found is put in the queue by hand."""

from typing import NamedTuple

from curation_app.review_store import ReviewStore
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from ingest.interaction_reading import Behind, InteractionRow, count_behind, read_behind, read_session_around
from ingest.log_store import LogStore
from ingest.mining.candidate_reading import candidate_id
from ingest.mining.candidates import Candidate, CandidateTurn, SignalHit

PICKED = "picked"
PAGE_SIZE = 50


class Listed(NamedTuple):
    """One page of the interactions behind a figure, and how many there are."""

    rows: tuple[InteractionRow, ...]
    total: int


def list_behind(workspace: Workspace, behind: Behind, *, page: int = 1) -> Listed:
    """Return one page, counted from 1."""
    with LogStore(workspace.logs_path).unit() as connection:
        total = count_behind(connection, behind)
        rows = read_behind(connection, behind, limit=PAGE_SIZE, offset=(page - 1) * PAGE_SIZE)
    return Listed(tuple(rows), total)


def read_turn(workspace: Workspace, interaction_id: str) -> CandidateTurn:
    """Return one interaction with what was retrieved for it."""
    return _candidate(workspace, interaction_id, by="").flagged_turn


def put_in_queue(workspace: Workspace, interaction_id: str, *, by: str) -> bool:
    """Put an interaction in the queue with its session around it; return whether it was not there before."""
    store = ReviewStore(workspace.review_path, workspace.settings().review)
    if store.known_ids([candidate_id(interaction_id)]):
        return False
    return store.add_candidates([_candidate(workspace, interaction_id, by=by)]) > 0


def _candidate(workspace: Workspace, interaction_id: str, *, by: str) -> Candidate:
    context = workspace.settings().queue.context_turns
    with LogStore(workspace.logs_path).unit() as connection:
        around = read_session_around(connection, interaction_id, context=context)
    if around is None:
        raise BadInputError(f"the log holds no interaction {interaction_id!r} any more; choose another.")
    return Candidate(
        candidate_id=candidate_id(interaction_id),
        interaction_id=interaction_id,
        source=around.source,
        session_id=around.session_id,
        signals=(SignalHit(signal=PICKED, score=1.0, reason=f"{by or 'a reader'} picked it on the Monitor page"),),
        priority=1.0,
        sampling_signal=PICKED,
        inclusion_probability=1.0,
        turns=around.turns,
    )
