"""What an adapter is: records of one format in, interactions, spans, feedback and an account of the rest out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ingest.interaction import FeedbackEvent, Interaction


class Record(NamedTuple):
    """One record as the file layer hands it on.

    `value` is parsed: a dict in nearly every format (a JSON object, a CSV or Parquet row whose JSON or Python-literal
    cells are already parsed, times of Parquet as datetimes), or `bytes` for a message that is not text (protobuf).
    `line` is the 1-based line it starts on (rows of Parquet: 1-based row; binary: 1-based message).
    """

    file: str
    line: int
    value: Any
    raw: bytes | None = None
    """The record as it stood in the file, when the file layer still has it; what quarantine keeps."""


class Skip(NamedTuple):
    """Records that are understood and are no interaction; counted by `reason`, such as 'health check'."""

    reason: str
    records: int = 1


class Reject(NamedTuple):
    """A record that should have been readable and is not; goes to quarantine with its place and its reason."""

    file: str
    line: int
    reason: str
    raw: str = ""
    records: int = 1
    user_id: str | None = None
    """Whose record it is, where that is known, so that the id is hashed where it stands in `raw` and `reason`."""


class Caution(NamedTuple):
    """Something the user must hear of though the data is taken, such as evicted span attributes.

    Cautions are counted by `code` and shown with the first `message`; a caution about one interaction belongs in
    `Interaction.cautions` as well, so that it is seen beside that interaction.
    """

    code: str
    message: str
    file: str = ""
    line: int = 0


class Span(NamedTuple):
    """A piece of a trace, staged until every file is read; `payload` is a dict of JSON values, or a SpanFacts.

    Keep in `payload` only what `assemble` needs (no embeddings). String leaves of it are redacted before storage;
    `user_id` is hashed and taken out of the payload, wherever it stands there. Staged by (adapter, trace_id, span_id);
    of two spans with the same key the one with the greater `version_ns` (end time) stays, else the longer payload.
    An event bound to a trace (an OpenTelemetry log record) is a Span too, with a span_id made from its content.
    """

    trace_id: str
    """Lower-case hex without prefix where the format has such ids, so that all spellings of one trace meet."""
    span_id: str
    payload: Any
    started_ns: int = 0
    version_ns: int = 0
    user_id: str | None = None
    texts: dict[str, str] | None = None
    """Chunk texts by their hash, stored once and apart; the payload says only the hash."""
    written: str = ""
    """The payload as JSON text, once it is redacted."""


class Trace(NamedTuple):
    """All spans known of one trace, ordered by start time, then span id."""

    trace_id: str
    spans: tuple[Span, ...]


Outcome: TypeAlias = Interaction | FeedbackEvent | Span | Skip | Reject | Caution


@runtime_checkable
class Adapter(Protocol):
    """Reads one family of formats whose records stand for themselves."""

    name: str
    """What `--format` takes."""
    description: str
    """One line for `errata formats`."""

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the first records of a file (their values) are of this format, in [0, 1].

        0 means no; 0.5 may be; 0.9 surely. Never raises, whatever the values are.
        """

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield what each record means; a bad record yields a Reject and never ends the rest.

        May be called with a part of a file and in several processes at once, so it keeps no state between calls.
        Every record that yields neither a Skip nor a Reject counts as used.
        """


@runtime_checkable
class SpanAdapter(Adapter, Protocol):
    """Reads a format in which one interaction spreads over many records, lines or files."""

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interactions of one trace from all its spans, and a Skip when it holds none.

        Called again with more spans when late ones arrive: the same spans give the same outcomes in any order of
        arrival, and interaction ids must not depend on which spans are already there.
        """


class UsualLines(NamedTuple):
    """What is read from lines in a format's usual spelling."""

    spans: list[Span]
    texts: dict[str, str]
    """Chunk texts of the spans, by their hash."""
    rest: list[Outcome]
    """Votes that stand on the spans, and what else is said of them."""
    left: list[int]
    """The places of the lines that are not read."""


@runtime_checkable
class LineAdapter(SpanAdapter, Protocol):
    """Reads lines in the format's usual spelling without parsing them into plain values first."""

    def read_lines(self, lines: Sequence[bytes]) -> UsualLines:
        """Return the spans that `read` gives for lines in the usual spelling, and which lines are in another.

        A line is left when not all of it can be understood. Never raises.
        """
