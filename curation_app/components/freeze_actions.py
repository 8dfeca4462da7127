"""What happens on the Freeze page when its form is sent."""

from curation_app import session_keys
from curation_app.service.freezing import FreezeForm, act_on_desk
from curation_app.service.sign_off import Proposal
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError
from evalsets.sets.freezing import FreezeResult


def freeze_or_propose(workspace: Workspace, name: str) -> None:
    """Freeze the set as the form says, or propose it, and keep what to tell the person."""
    value = session_keys.widget_value
    form = FreezeForm(
        str(value(session_keys.FREEZE_PERSON) or ""),
        str(value(session_keys.FREEZE_NOTE) or ""),
        tuple(value(session_keys.FREEZE_ALLOW) or ()),
        str(value(session_keys.FREEZE_REASON) or ""),
    )
    try:
        done = act_on_desk(workspace, name, form)
    except ErrataError as error:
        session_keys.set_widget(session_keys.FREEZE_OUTCOME, ("error", str(error)))
        return
    session_keys.set_widget(session_keys.FREEZE_OUTCOME, ("success", _told(done)))


def _told(done: FreezeResult | Proposal) -> str:
    if isinstance(done, Proposal):
        return f"Proposed. A second person opens this page under their own name and signs; {done.proposed_by} cannot."
    if not done.is_new:
        return f"Version {done.eval_set.version} stands: nothing has changed since."
    return (
        f"Frozen as version {done.eval_set.version}. Next: commit evalsets/{done.eval_set.name}, open a pull "
        f"request, then `errata run {done.eval_set.name}`."
    )
