"""Compare stored runs: each later run with one earlier run, over the items both hold unchanged."""

from functools import lru_cache
from pathlib import Path

from curation_app.service.run_history import StoredRun, load_report
from evalsets.comparison import Change, Comparison, compare
from evalsets.gating.baseline import BASELINE_NAME
from evalsets.sweep import PLAN_NAME, Sweep, load_sweep

WORSE, BETTER = "worse", "better"


def compare_runs(before: Path, after: Path) -> Comparison:
    """Return what differs between two reports; kept while both files stay the same."""
    return _compare(before, before.stat().st_mtime_ns, after, after.stat().st_mtime_ns)


def earlier_runs(runs: list[StoredRun], sets_folder: Path, set_name: str) -> dict[str, Path]:
    """Return what a run may be compared with, by label: the set's baseline first, then the stored runs."""
    baseline = sets_folder / set_name / BASELINE_NAME
    found = {"baseline of the set": baseline} if baseline.is_file() else {}
    return found | {run.label: run.path for run in runs}


def verdict(change: Change) -> str:
    """Return what became of a figure: moved (better or worse), did not move, or too few items to tell."""
    if change.movement != "moved":
        return change.movement
    return f"moved, {WORSE if change.is_worse else BETTER}"


def finding(comparison: Comparison) -> str:
    """Return the comparison in a sentence."""
    broke, fixed = len(comparison.broken), len(comparison.fixed)
    turned = f"{broke} of {comparison.items} items broke and {fixed} were fixed"
    moved = [change for change in (*comparison.headline, *comparison.modes) if change.movement == "moved"]
    if not moved:
        return f"{turned}; no headline figure or mode moved by more than chance"
    named = ", ".join(f"{change.name.replace('_', ' ')} {change.difference * 100:+.0f} points" for change in moved)
    return f"{turned}; moved: {named}"


@lru_cache(maxsize=32)
def _compare(before: Path, _before_ns: int, after: Path, _after_ns: int) -> Comparison:
    return compare(load_report(before), load_report(after))


def stored_sweeps(runs_folder: Path) -> dict[str, Sweep]:
    """Return the sweeps of a workspace by folder name, the newest first."""
    folders = sorted(
        (runs_folder / "sweeps").glob(f"*/{PLAN_NAME}"), key=lambda path: path.stat().st_mtime, reverse=True
    )
    return {path.parent.name: load_sweep(path.parent) for path in folders}
