"""What the Freeze page and `errata freeze` do: accepted labels, the next version as it would be, and the freeze."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation_app.labels import AcceptedItem
from curation_app.review_store import ReviewStore
from curation_app.service.set_places import gold_corpus, holdout_plan, set_folder
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.freezing import FreezePlan, FreezeResult, Stamp, plan_freeze, publish
from evalsets.gold_texts import texts_by_chunk_id
from evalsets.items import Item, Split


class FreezeDesk(NamedTuple):
    """What stands ready for one set, what waits and why, and the version that would be frozen."""

    workspace: Workspace
    name: str
    ready: tuple[AcceptedItem, ...]
    blocked: tuple[AcceptedItem, ...]
    plan: FreezePlan

    @property
    def needs_sign_off(self) -> bool:
        """Whether a second person has to sign before a freeze."""
        return self.workspace.settings().review.reviewers > 1

    def chunk_texts(self) -> dict[str, str]:
        """Return the texts of the gold chunks of both versions by chunk id."""
        return texts_by_chunk_id((*self.plan.before.items, *self.plan.after.items), self.plan.texts)


def open_freeze_desk(workspace: Workspace, name: str = "", *, stamp: Stamp | None = None) -> FreezeDesk:
    """Read the accepted labels and work out the next version of a set, writing nothing."""
    accepted = accepted_labels(workspace)
    ready = tuple(each for each in accepted if not each.blockers)
    plan = plan_items(workspace, name, [each.item for each in ready], stamp or Stamp("", ""))
    blocked = tuple(each for each in accepted if each.blockers)
    return FreezeDesk(workspace, plan.folder.name, ready, blocked, plan)


def accepted_labels(workspace: Workspace) -> list[AcceptedItem]:
    """Return every label that stands for an item, with what blocks it; none when nothing was ever mined."""
    if not workspace.review_path.is_file():
        return []
    return ReviewStore(workspace.review_path, workspace.settings().review).accepted_items()


def plan_items(workspace: Workspace, name: str, items: Sequence[Item], stamp: Stamp) -> FreezePlan:
    """Work out the next version of a set with these items, against the workspace's corpus."""
    target = set_folder(workspace, name)
    known = target.load_whole().items if target.newest_version() else ()
    corpus = gold_corpus(workspace, (*known, *items))
    return plan_freeze(target.root, items, stamp, corpus=corpus, holdout=holdout_plan(workspace))


def freeze_plan(workspace: Workspace, plan: FreezePlan) -> FreezeResult:
    """Freeze a planned version; BadInputError without a note, or without the sign-off of a second person."""
    after = plan.after
    if not after.note.strip():
        raise BadInputError("a version needs a note: say in a sentence what it adds and why.")
    require_sign_off(workspace, after)
    return publish(plan)


def require_sign_off(workspace: Workspace, after: EvalSet) -> None:
    """Raise BadInputError when errata.toml asks for two people and only one stands behind the version."""
    if workspace.settings().review.reviewers > 1 and after.signed_off_by.strip() in {"", after.frozen_by}:
        raise BadInputError(
            "errata.toml asks for two reviewers: a second person signs off (--signed-off-by NAME), "
            f"other than {after.frozen_by!r}."
        )


def shown(items: Iterable[Item]) -> list[Item]:
    """Return the items that may be shown: held-out ones stay unseen."""
    return [item for item in items if item.split is not Split.HOLDOUT]
