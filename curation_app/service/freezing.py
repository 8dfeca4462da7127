"""What the Freeze page and `errata freeze` do: accepted labels, the next version as it would be, and the freeze."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from curation_app.labels import AcceptedItem
from curation_app.review_store import ReviewStore
from curation_app.service.set_places import gold_corpus, holdout_plan, set_folder
from curation_app.service.sign_off import Proposal, clear_proposal, open_proposal, propose
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.eval_set import AllowedCheck, EvalSet
from evalsets.items import Item, Split
from evalsets.sets.checks import Finding
from evalsets.sets.diff_formats.outline import Outline, outline
from evalsets.sets.freezing import ChecksFailedError, FreezePlan, FreezeResult, Stamp, plan_freeze, publish
from evalsets.sets.gold_texts import texts_by_chunk_id


class FreezeForm(NamedTuple):
    """What a person filled in on the Freeze page."""

    person: str
    note: str
    allow: tuple[str, ...] = ()
    reason: str = ""

    def allowed(self) -> tuple[AllowedCheck, ...]:
        """Return the failing checks that are let pass; BadInputError without a name or a reason."""
        if not self.person.strip():
            raise BadInputError("give your name first: a version says who froze it.")
        if self.allow and not self.reason.strip():
            raise BadInputError(f"say why {', '.join(self.allow)} may fail; it goes into the changelog.")
        return tuple(AllowedCheck(code=code, reason=self.reason, allowed_by=self.person) for code in self.allow)


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

    @property
    def proposal(self) -> Proposal | None:
        """The proposal that waits for a second person's signature, if it is of just this content."""
        return open_proposal(self.workspace, self.plan.after) if self.needs_sign_off else None

    @property
    def error_codes(self) -> tuple[str, ...]:
        """The codes of the failing checks, which a person may allow with a reason."""
        return tuple(dict.fromkeys(finding.code for finding in self.plan.report.errors))

    def shown_findings(self) -> list[Finding]:
        """Return the findings that may be shown: those about held-out items stay unseen."""
        held_out = self.plan.held_out_ids
        return [finding for finding in self.plan.report.findings if finding.item_id not in held_out]

    def shown_outline(self) -> Outline:
        """Return what would change, laid out by mode, nothing held out."""
        return outline(self.plan.shown_change, self.chunk_texts())

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


def act_on_desk(workspace: Workspace, name: str, form: FreezeForm) -> FreezeResult | Proposal:
    """Freeze what the form says, or, where two people are asked for, propose it or sign the open proposal."""
    stamp = Stamp(form.note, form.person, allow=form.allowed())
    desk = open_freeze_desk(workspace, name, stamp=stamp)
    if not desk.needs_sign_off:
        return freeze_plan(workspace, desk.plan)
    waiting = desk.proposal
    if waiting is None or waiting.proposed_by == form.person:
        return _proposed(desk, form)
    signed = Stamp(waiting.note, waiting.proposed_by, signed_off_by=form.person, allow=waiting.allow)
    result = freeze_plan(workspace, open_freeze_desk(workspace, name, stamp=signed).plan)
    clear_proposal(workspace, desk.name)
    return result


def _proposed(desk: FreezeDesk, form: FreezeForm) -> Proposal:
    if not form.note.strip():
        raise BadInputError("a version needs a note: say in a sentence what it adds and why.")
    if desk.plan.is_blocked:
        raise ChecksFailedError(desk.plan.report, desk.plan.held_out_ids)
    return propose(desk.workspace, desk.plan.after, by=form.person, note=form.note, allow=form.allowed())


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
