"""Commands that make the next version of a set: freeze, retire, known-failing, restore."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from curation_app.cli.output import JsonOption, WorkspaceOption, say, write_json, write_line
from curation_app.workspace import find_workspace

if TYPE_CHECKING:
    from curation_app.labels import AcceptedItem
    from curation_app.workspace import Workspace
    from evalsets.sets.changes import SetChange
    from evalsets.sets.freezing import FreezeResult, Stamp

app = typer.Typer()

NameArgument = typer.Argument("", metavar="NAME", help="Name of the set; default: the one errata.toml names.")
ByOption = typer.Option("", "--by", help="Who does this; default: git's user.name.")
NoteOption = typer.Option(..., "--note", "-m", help="What this version adds and why, in a sentence.")
SignedOption = typer.Option("", "--signed-off-by", help="The second person, where errata.toml asks for two reviewers.")
AllowOption = typer.Option([], "--allow", metavar="CODE", help="Let a failing check pass; needs --reason. Repeatable.")
ReasonOption = typer.Option("", "--reason", help="Why the allowed checks may fail; goes into the changelog.")


@app.command("freeze")
def freeze(
    name: str = NameArgument,
    note: str = NoteOption,
    from_file: Path | None = typer.Option(
        None, "--from", metavar="FILE", help="Take items from a set file or a plain list instead of accepted labels."
    ),
    by: str = ByOption,
    signed_off_by: str = SignedOption,
    allow: list[str] = AllowOption,
    reason: str = ReasonOption,
    threshold: list[str] = typer.Option(
        [],
        "--threshold",
        metavar="NAME=BAR",
        help="A bar of the scorecard, of the whole set or of a tag (TAG:NAME=BAR).",
    ),
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Freeze the accepted items as the next version of a set, after every check."""
    from curation_app.service.freezing import accepted_labels, freeze_plan, plan_items
    from evalsets.sets.file import load

    space = find_workspace(workspace)
    if from_file is not None:
        items = list(load(from_file).items)
    else:
        accepted = accepted_labels(space)
        items = [each.item for each in accepted if not each.blockers]
        waiting = len(accepted) - len(items)
        if waiting:
            say(f"{waiting} accepted label(s) wait: {_reasons(accepted)}")
    stamp = _stamp(note, by, signed_off_by, allow, reason)._replace(thresholds=_thresholds(threshold))
    plan = plan_items(space, name, items, stamp)
    _report_freeze(freeze_plan(space, plan), as_json=as_json)


def _thresholds(written: list[str]) -> dict[str, float] | None:
    from evalsets.errors import BadInputError

    bars = {}
    for each in written:
        name, _, bar = each.rpartition("=")
        try:
            bars[name] = float(bar)
        except ValueError as error:
            raise BadInputError(f"--threshold {each!r}: write NAME=BAR, as in context_recall=0.8.") from error
    return bars or None


def _reasons(accepted: "list[AcceptedItem]") -> str:
    counts = Counter(blocker for each in accepted for blocker in each.blockers)
    return "; ".join(f"{blocker} ({count})" for blocker, count in counts.most_common())


def _stamp(note: str, by: str, signed_off_by: str, allow: list[str], reason: str) -> "Stamp":
    from curation_app.service.set_places import person
    from evalsets.errors import BadInputError
    from evalsets.eval_set import AllowedCheck
    from evalsets.sets.freezing import Stamp

    if allow and not reason.strip():
        raise BadInputError(f"--allow {allow[0]} needs --reason: the changelog says why a failing check passed.")
    who = person(by)
    entries = tuple(AllowedCheck(code=code, reason=reason, allowed_by=who) for code in allow)
    return Stamp(note, who, signed_off_by=signed_off_by, allow=entries)


def _report_freeze(result: "FreezeResult", *, as_json: bool) -> None:
    from evalsets.sets.diff_formats.wire import wire_diff

    for finding in result.report.warnings:
        say(f"warning [{finding.code}] {finding.text}")
    if result.still_retired:
        say(f"{len(result.still_retired)} accepted item(s) stay retired: {', '.join(result.still_retired[:5])}")
    frozen = result.eval_set
    if as_json:
        write_json(
            {
                "name": frozen.name,
                "version": frozen.version,
                "content_hash": frozen.content_hash,
                "path": str(result.path),
                "is_new": result.is_new,
                "items": len(frozen.items),
                "held_out": frozen.holdout.count if frozen.holdout else 0,
                "change": wire_diff(result.change),
            }
        )
        return
    if not result.is_new:
        write_line(f"{frozen.name} version {frozen.version} stands: nothing has changed since")
        return
    held = f" and {frozen.holdout.count} held out" if frozen.holdout else ""
    write_line(f"froze {frozen.name} version {frozen.version}: {len(frozen.items)} items{held}")
    write_line(f"wrote {result.path}")
    say(f"next: git add {result.path.parent} and open a pull request, or errata run {result.path}")


@app.command("retire")
def retire(
    name: str = typer.Argument(..., metavar="NAME", help="Name of the set."),
    ids: list[str] = typer.Argument(..., metavar="ID", help="Items to retire; they stay in the file, out of use."),
    reason: str = typer.Option(..., "--reason", help="Why they are no longer right."),
    by: str = ByOption,
    signed_off_by: str = SignedOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Retire items with a reason, as a new version."""
    from evalsets.sets.changes import retiring

    stamp = _stamp(f"Retired {_counted(ids)}: {reason}", by, signed_off_by, [], "")
    change = retiring(dict.fromkeys(ids, reason), by=stamp.frozen_by, on=stamp.moment.date())
    _revise(find_workspace(workspace), name, change, stamp, as_json=as_json)


@app.command("known-failing")
def known_failing(
    name: str = NameArgument,
    add: list[str] = typer.Option([], "--add", metavar="ID", help="An item that is known to fail. Repeatable."),
    clear: list[str] = typer.Option([], "--clear", metavar="ID", help="An item that gates again. Repeatable."),
    reason: str = typer.Option("", "--reason", help="Why it fails; needed with --add."),
    owner: str = typer.Option("", "--owner", help="Who will mend it; default: you."),
    review_by: str = typer.Option("", "--review-by", metavar="DATE", help="When to look again; default: in 30 days."),
    by: str = ByOption,
    signed_off_by: str = SignedOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """List what is known to fail, or move items there and back as a new version. They still run; they do not gate."""
    space = find_workspace(workspace)
    if not add and not clear:
        _list_known_failing(space, name, as_json=as_json)
        return
    from curation_app.service.set_revisions import known_failing_change, known_failures

    done = [f"{word} {_counted(ids)}" for word, ids in (("Known to fail:", add), ("Gates again:", clear)) if ids]
    stamp = _stamp(". ".join(done), by, signed_off_by, [], "")
    since = stamp.moment.date()
    entries = known_failures(add, reason=reason, owner=owner or stamp.frozen_by, since=since, review_by=review_by)
    _revise(space, name, known_failing_change(entries, clear), stamp, as_json=as_json)


@app.command("restore")
def restore(
    name: str = typer.Argument(..., metavar="NAME", help="Name of the set."),
    version: int = typer.Argument(..., min=1, help="The version to bring back, as a new one."),
    note: str = typer.Option("", "--note", "-m", help="Why; default: says which version is restored."),
    by: str = ByOption,
    signed_off_by: str = SignedOption,
    allow: list[str] = AllowOption,
    reason: str = ReasonOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """Make a new version from an old one; items that came later are retired, not deleted."""
    from curation_app.service.set_places import set_folder
    from evalsets.sets.changes import restoring

    space = find_workspace(workspace)
    old = set_folder(space, name).load_whole(version)
    stamp = _stamp(note or f"Restored version {version}", by, signed_off_by, allow, reason)
    change = restoring(old, by=stamp.frozen_by, on=stamp.moment.date())
    _revise(space, name, change, stamp, as_json=as_json)


def _counted(ids: list[str]) -> str:
    # A note is public even where an item is held out; the changelog names the others.
    return f"{len(ids)} item{'' if len(ids) == 1 else 's'}"


def _revise(space: "Workspace", name: str, change: "SetChange", stamp: "Stamp", *, as_json: bool) -> None:
    from curation_app.service.set_revisions import revise_set

    _report_freeze(revise_set(space, name, change, stamp), as_json=as_json)


def _list_known_failing(space: "Workspace", name: str, *, as_json: bool) -> None:
    from curation_app.service.set_places import set_folder

    entries = set_folder(space, name).load_main().known_failing
    if as_json:
        write_json([entry.model_dump(mode="json") for entry in entries])
        return
    for entry in entries:
        write_line(
            f"{entry.id}  {entry.reason}  (owner {entry.owner}, since {entry.since}, review by {entry.review_by})"
        )
    say(f"{len(entries)} known to fail")


@app.command("upkeep")
def upkeep(
    name: str = NameArgument,
    still_right: list[str] = typer.Option([], "--still-right", metavar="ID", help="An item found right. Repeatable."),
    correct: list[str] = typer.Option([], "--correct", metavar="ID", help="An item to label again. Repeatable."),
    retire_ids: list[str] = typer.Option([], "--retire", metavar="ID", help="An item to retire; needs --reason."),
    reason: str = typer.Option("", "--reason", help="Why items are retired."),
    by: str = ByOption,
    signed_off_by: str = SignedOption,
    workspace: Path | None = WorkspaceOption,
    as_json: bool = JsonOption,
) -> None:
    """List the items confirmed longest ago, or record what a review of them found, as one new version."""
    from curation_app.service.set_health import Review, health_of, record_review
    from curation_app.service.set_places import person

    space = find_workspace(workspace)
    if still_right or correct or retire_ids:
        review = Review(tuple(still_right), tuple(correct), dict.fromkeys(retire_ids, reason))
        reviewed = record_review(space, name, review, by=person(by), signed_off_by=signed_off_by)
        if correct:
            say(f"{reviewed.sent} item(s) wait on the Label page")
        if reviewed.frozen is not None:
            _report_freeze(reviewed.frozen, as_json=as_json)
        return
    health = health_of(space, name)
    if as_json:
        write_json([each._asdict() | {"item": each.item.model_dump(mode="json")} for each in health.due])
        return
    for each in health.due:
        mark = "due" if each.is_due else ""
        write_line(f"{each.confirmed_on}  {each.days:>4} days  {mark:<4} {each.item.id}  {each.item.question[:80]!r}")
    say(f"{len(health.overdue)} due; {len(health.questionable)} item(s) to question after {health.runs} run(s)")
