"""A span as OpenTelemetry has it, after its container is undone and before its attributes are understood."""

from typing import Any, NamedTuple

import msgspec

from ingest.traces.documents import Numbered
from ingest.traces.facts import SpanFacts


class RawSpan(msgspec.Struct, gc=False):
    """One span with plain values: hex ids, nanoseconds, a flat dict of attributes."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    status_code: int = 0
    status_message: str = ""
    attributes: dict[str, Any] = {}
    events: tuple[tuple[str, dict[str, Any]], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Trace id and span id of each linked span."""
    dropped_attributes: int = 0
    resource: dict[str, Any] = {}


class DialectFacts(NamedTuple):
    """What a dialect reads from a span; the user stands apart, because the ingest hashes it."""

    facts: SpanFacts
    user_id: str | None = None
    groups: Numbered | None = None
    """The numbered attributes, where the dialect looked at them."""

    def filled_from(self, other: "DialectFacts") -> "DialectFacts":
        """Return these facts with the gaps filled from another dialect of the same span."""
        mine, theirs = self.facts, other.facts
        filled = {
            name: getattr(theirs, name)
            for name in SpanFacts.__struct_fields__
            if not getattr(mine, name) and getattr(theirs, name)
        }
        filled["is_silent"] = mine.is_silent and theirs.is_silent
        filled["metadata"] = {**theirs.metadata, **mine.metadata}
        facts = msgspec.structs.replace(mine, **filled)
        return DialectFacts(facts, self.user_id or other.user_id, self.groups or other.groups)
