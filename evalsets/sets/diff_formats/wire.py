"""A difference as JSON for a program: every value before and after, with what it means."""

import json
from typing import Any

from evalsets.eval_set import wire_item
from evalsets.sets.diff import ItemChange, SetDiff


def render_json(change: SetDiff) -> str:
    """Render a difference as sorted, indented JSON; ends with a newline."""
    return json.dumps(wire_diff(change), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def wire_diff(change: SetDiff) -> dict[str, Any]:
    """Return a difference as JSON-ready values."""
    wire = change.model_dump(mode="json", exclude={"added", "removed", "changed"}, exclude_none=False)
    return wire | {
        "is_empty": change.is_empty,
        "counts": change.kind_counts(),
        "added": [wire_item(item) for item in change.added],
        "removed": [wire_item(item) for item in change.removed],
        "changed": [_wire_change(each) for each in change.changed],
    }


def _wire_change(change: ItemChange) -> dict[str, Any]:
    before, after = wire_item(change.before), wire_item(change.after)
    fields = {name: {"before": before.get(name), "after": after.get(name)} for name in change.fields}
    return {"id": change.after.id, "mode": change.after.mode.value, "kinds": list(change.kinds), "fields": fields}
