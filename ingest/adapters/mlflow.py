"""The MLflow adapter: traces of schema 2 and 3 as JSON, and frames of search_traces."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Caution, Outcome, Record, Skip, Trace
from ingest.adapters.guarding import guarded, surest
from ingest.adapters.mlflow_traces import info_span, span_of, trace_in
from ingest.adapters.mlflow_votes import assessment_events
from ingest.interaction import FeedbackEvent, Interaction
from ingest.traces.assembly import assemble
from ingest.traces.identity import TRACE_SOURCE


class MlflowAdapter:
    """Reads one trace a record; its id without `tr-` is the OpenTelemetry trace id."""

    name = "mlflow"
    description = "MLflow: traces of schema 2 and 3 (JSON), search_traces frames (CSV, JSON, Parquet), assessments"
    family = "trace"

    def detects(self, sample: Sequence[Any]) -> float:
        """Return how surely the records are MLflow traces."""
        return surest(lambda value: 0.95 if trace_in(value) is not None else 0.0, sample)

    def read(self, records: Iterable[Record]) -> Iterator[Outcome]:
        """Yield the spans of each trace, a pseudo span of its info, and a vote of each assessment."""
        for record in records:
            yield from guarded(_outcomes, record, "an MLflow trace")

    def assemble(self, trace: Trace) -> Iterator[Interaction | FeedbackEvent | Skip | Caution]:
        """Yield the interaction of one trace, whichever formats its spans came in."""
        return assemble(trace, TRACE_SOURCE)


ADAPTER = MlflowAdapter()


def _outcomes(value: Any) -> Iterator[Outcome]:
    trace = trace_in(value)
    if trace is None or not trace.trace_id:
        yield Skip("not an MLflow trace")
        return
    yield info_span(trace)
    for span in trace.spans:
        yield span_of(trace, span)
    yield from assessment_events(trace)
