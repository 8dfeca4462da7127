"""Make candidates ready for review: diagnosed, grouped with those that ask the same, compared with the current set."""

from collections.abc import Iterable, Mapping

from ingest.mining.candidates import Candidate
from ingest.mining.diagnosing import CorpusSearch, diagnosed
from ingest.mining.grouping import Asked, Group, grouped, groups_among, groups_of, recognise_known
from ingest.mining.run import MiningReport


def prepared(
    report: MiningReport, *, search: CorpusSearch | None = None, known: Mapping[str, str] | None = None
) -> MiningReport:
    """Return the report with its candidates made ready, and its whole queue grouped.

    `search` looks a question up in the corpus; `known` holds the questions of the current set by item id.
    """
    groups = groups_among({each.candidate_id: Asked(each.question, each.asked_at) for each in report.queued})
    candidates = _made_ready(report.candidates, groups, search, known)
    queued = tuple(each._replace(group=groups.get(each.candidate_id)) for each in report.queued)
    return report._replace(candidates=tuple(candidates), queued=queued)


def prepare_candidates(
    candidates: Iterable[Candidate], *, search: CorpusSearch | None = None, known: Mapping[str, str] | None = None
) -> list[Candidate]:
    """Return candidates that come without the queue of a run made ready, grouped among themselves."""
    candidates = list(candidates)
    return _made_ready(candidates, groups_of(candidates), search, known)


def _made_ready(
    candidates: Iterable[Candidate],
    groups: Mapping[str, Group],
    search: CorpusSearch | None,
    known: Mapping[str, str] | None,
) -> list[Candidate]:
    return recognise_known(grouped([diagnosed(each, search) for each in candidates], groups), known or {})
