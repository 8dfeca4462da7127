"""What happens on the Health page: a review is recorded, drifted gold is repaired or sent to the Label page."""

from collections.abc import Sequence

from curation_app import session_keys
from curation_app.components.health_view import CORRECT, RETIRE, STILL_RIGHT
from curation_app.service.drifting import plan_repair, repair, send_to_review
from curation_app.service.set_health import Review, check_drift, record_review
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError
from evalsets.sets.freezing import Stamp


def record(workspace: Workspace, name: str, ids: Sequence[str]) -> None:
    """Record the decisions of the form and keep what to tell the person."""
    chosen = {id_: session_keys.widget_value(session_keys.review_key(id_)) for id_ in ids}
    review = Review(
        tuple(id_ for id_, choice in chosen.items() if choice == STILL_RIGHT),
        tuple(id_ for id_, choice in chosen.items() if choice == CORRECT),
        {
            id_: str(session_keys.widget_value(session_keys.review_key(id_, "reason")) or "")
            for id_, choice in chosen.items()
            if choice == RETIRE
        },
    )
    try:
        done = record_review(workspace, name, review, by=session_keys.reviewer_name(), signed_off_by=_signature())
    except ErrataError as error:
        session_keys.set_widget(session_keys.HEALTH_OUTCOME, ("error", str(error)))
        return
    told = [f"{done.sent} item(s) wait on the Label page."] if review.to_correct else []
    if done.frozen is not None:
        told.append(f"Frozen as version {done.frozen.eval_set.version}.")
    session_keys.set_widget(session_keys.HEALTH_OUTCOME, ("success", " ".join(told) or "Nothing was decided."))


def _signature() -> str:
    return str(session_keys.widget_value(session_keys.HEALTH_SIGNATURE) or "")


def look_for_drift(workspace: Workspace, name: str) -> None:
    """Hold the gold against the corpus now and keep what was found for this session."""
    try:
        session_keys.set_widget(session_keys.HEALTH_DRIFT, (name, check_drift(workspace, name)))
    except ErrataError as error:
        session_keys.set_widget(session_keys.HEALTH_OUTCOME, ("error", str(error)))


def mend_drift(workspace: Workspace, name: str) -> None:
    """Repair moved and merged gold as a new version and send the rest to the Label page."""
    try:
        drifted = check_drift(workspace, name)
        if drifted is None:
            return
        stamp = Stamp("Repaired gold that moved or was merged", session_keys.reviewer_name() or "unnamed")
        result = repair(plan_repair(workspace, name, drifted, stamp))
        sent = send_to_review(workspace, drifted)
        session_keys.set_widget(session_keys.HEALTH_DRIFT, (name, check_drift(workspace, name)))
    except ErrataError as error:
        session_keys.set_widget(session_keys.HEALTH_OUTCOME, ("error", str(error)))
        return
    version = f"Frozen as version {result.eval_set.version}. " if result.is_new else ""
    words = f"{version}{sent} item(s) went to the Label page with both texts."
    session_keys.set_widget(session_keys.HEALTH_OUTCOME, ("success", words))
