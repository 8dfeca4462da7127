"""Versions that change what a set already has: retirements, known failures, restored versions, repaired gold."""

from collections.abc import Sequence
from datetime import date, timedelta

from curation_app.service.freezing import require_sign_off
from curation_app.service.set_places import gold_corpus, set_folder
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet, KnownFailing
from evalsets.sets.changes import SetChange, clearing_known_failing, marking_known_failing
from evalsets.sets.freezing import FreezeResult, Stamp, publish, revise

REVIEW_AFTER = timedelta(days=30)


def revise_set(workspace: Workspace, name: str, change: SetChange, stamp: Stamp) -> FreezeResult:
    """Freeze the version that `change` makes of the newest one, after every check."""
    target = set_folder(workspace, name)
    whole = target.load_whole()
    corpus = gold_corpus(workspace, (*whole.items, *change(whole).items))
    plan = revise(target.root, change, stamp, corpus=corpus, holdout_place=target.holdout_place)
    require_sign_off(workspace, plan.after)
    return publish(plan)


def known_failures(ids: Sequence[str], *, reason: str, owner: str, since: date, review_by: str) -> list[KnownFailing]:
    """Return the entries of items that are known to fail; `review_by` is a date, or empty for 30 days from `since`."""
    if ids and not reason.strip():
        raise BadInputError("--add needs --reason: say why the item is known to fail.")
    due = _day(review_by, since)
    if due <= since:
        raise BadInputError(f"--review-by {due} is not after {since}, when it is marked.")
    return [KnownFailing(id=id_, reason=reason, owner=owner, since=since, review_by=due) for id_ in ids]


def known_failing_change(entries: Sequence[KnownFailing], clear: Sequence[str]) -> SetChange:
    """Return the change that moves items to known_failing and back."""

    def change(eval_set: EvalSet) -> EvalSet:
        marked = marking_known_failing(entries)(eval_set)
        return clearing_known_failing(clear)(marked) if clear else marked

    return change


def _day(written: str, since: date) -> date:
    if not written:
        return since + REVIEW_AFTER
    try:
        return date.fromisoformat(written)
    except ValueError as error:
        raise BadInputError(f"{written!r} is no date; write it as {since + REVIEW_AFTER}.") from error
