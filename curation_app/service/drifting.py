"""What `errata drift` and the Health page do: hold gold against the corpus, repair what can be, send on the rest."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation_app.labels import SET_SOURCE
from curation_app.review_store import ReviewStore
from curation_app.service.set_places import set_folder, whole_corpus
from curation_app.service.set_references import resolve
from curation_app.workspace import Workspace, find_workspace
from evalsets.chunks import Chunk
from evalsets.corpus_file import read_corpus
from evalsets.errors import BadInputError
from evalsets.eval_set import AllowedCheck, EvalSet
from evalsets.items import Item, Split
from evalsets.sets.changes import replacing
from evalsets.sets.drift import DriftKind, DriftReport, GoldDrift, find_drift, repaired
from evalsets.sets.freezing import FreezePlan, FreezeResult, Stamp, publish, revise
from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts
from ingest.mining.candidates import Candidate, CandidateChunk, CandidateTurn, ModeSuggestion, SignalHit

_BROKEN = "gold-not-in-corpus"


class Drifted(NamedTuple):
    """A drift report with the set and the corpus it is about."""

    report: DriftReport
    eval_set: EvalSet
    corpus: Mapping[str, Chunk]

    @property
    def shown(self) -> DriftReport:
        """The report without held-out items, which are not shown on pages or in the queue."""
        held = {item.id for item in self.eval_set.items if item.split is Split.HOLDOUT}
        kept = tuple(gold for gold in self.report.gold if gold.item_id not in held)
        return self.report.model_copy(update={"gold": kept})

    @property
    def held_out_drift(self) -> int:
        """How many gold chunks of held-out items need a person; only their number is told."""
        counts = (len(gold) for gold in self.report.for_review().values())
        return sum(counts) - sum(len(gold) for gold in self.shown.for_review().values())


def drift_of(reference: str, corpus_file: Path | None, workspace: Path | None) -> Drifted:
    """Hold the gold of the set that a person means against a corpus file, or the workspace's chunk store."""
    found = resolve(reference, workspace)
    corpus = _corpus(corpus_file, workspace)
    texts = load_gold_texts(gold_texts_file(found.path)) if found.path else {}
    return Drifted(find_drift(found.eval_set, corpus, texts), found.eval_set, corpus)


def drift_in_workspace(workspace: Workspace, name: str, corpus: Mapping[str, Chunk]) -> Drifted:
    """Hold a workspace's set, held-out items included, against a corpus."""
    target = set_folder(workspace, name)
    whole = target.load_whole()
    return Drifted(find_drift(whole, corpus, target.gold_texts()), whole, corpus)


def _corpus(corpus_file: Path | None, workspace: Path | None) -> Mapping[str, Chunk]:
    if corpus_file is not None:
        return {chunk.chunk_id: chunk for chunk in read_corpus(corpus_file)}
    corpus = whole_corpus(find_workspace(workspace))
    if corpus is None:
        raise BadInputError(
            "the workspace has no chunk store yet; name a file with --corpus, or run `errata corpus add`."
        )
    return corpus


def plan_repair(workspace: Workspace, name: str, drifted: Drifted, stamp: Stamp) -> FreezePlan:
    """Plan the version in which moved and merged gold points to where its text stands now.

    What cannot be repaired stays as it is and is let pass, since it waits for a person in the review queue.
    """
    target = set_folder(workspace, name)
    change = replacing(repaired(drifted.eval_set, drifted.report))
    plan = revise(target.root, change, stamp, corpus=drifted.corpus, holdout_place=target.holdout_place)
    if {finding.code for finding in plan.report.blocking} != {_BROKEN}:
        return plan
    reason = f"gold of {len(drifted.report.for_review())} item(s) drifted and waits for review"
    allowed = AllowedCheck(code=_BROKEN, reason=reason, allowed_by=stamp.frozen_by)
    stamp = stamp._replace(allow=(*stamp.allow, allowed))
    return revise(target.root, change, stamp, corpus=drifted.corpus, holdout_place=target.holdout_place)


def repair(plan: FreezePlan) -> FreezeResult:
    """Freeze a planned repair."""
    return publish(plan)


def send_to_review(workspace: Workspace, drifted: Drifted) -> int:
    """Put the items whose gold a person has to look at into the review queue; return how many were new there."""
    waiting = drifted.shown.for_review()
    candidates = [_candidate(drifted, drifted.eval_set.by_id[id_], gold) for id_, gold in waiting.items()]
    if not candidates:
        return 0
    return ReviewStore(workspace.review_path, workspace.settings().review).add_candidates(candidates)


def _candidate(drifted: Drifted, item: Item, gold: list[GoldDrift]) -> Candidate:
    told = "; ".join(_reason(each) for each in gold)
    return item_candidate(
        item,
        occasion=told,
        hit=SignalHit(signal="gold_drift", kind=gold[0].kind.value, score=1.0, reason=told),
        chunks=_evidence(drifted, gold),
    )


def item_candidate(item: Item, *, occasion: str, hit: SignalHit, chunks: tuple[CandidateChunk, ...]) -> Candidate:
    """Return a candidate that asks again about an item; labelling it corrects that item, under its own id."""
    key = hashlib.sha256(f"{item.id}\0{occasion}".encode()).hexdigest()[:16]
    turn = CandidateTurn(
        interaction_id=f"{SET_SOURCE}:{item.id}",
        question=item.question,
        answer=item.logged.answer if item.logged else "",
        retrieved=chunks,
    )
    return Candidate(
        candidate_id=f"set-{key}",
        interaction_id=turn.interaction_id,
        source=SET_SOURCE,
        session_id=item.origin.session if item.origin else "",
        signals=(hit,),
        priority=1.0,
        sampling_signal=hit.signal,
        inclusion_probability=1.0,
        suggestion=ModeSuggestion(
            mode=item.mode.value,
            evidence=f"the set says {item.expected!r}" if item.expected else "the set says that declining is right",
            gold_chunk_ids=item.gold_chunk_ids,
        ),
        known_item_id=item.id,
        language=item.language,
        turns=(turn,),
    )


def _reason(each: GoldDrift) -> str:
    now = ", ".join(chunk.chunk_id for chunk in each.found_in)
    words = {
        DriftKind.SPLIT: f"is now spread over {now}",
        DriftKind.CHANGED: f"was edited and is now {now}",
        DriftKind.GONE: "is no longer in the corpus",
    }
    return f"gold chunk {each.chunk_id} {words[each.kind]}"


def _evidence(drifted: Drifted, gold: list[GoldDrift]) -> tuple[CandidateChunk, ...]:
    shown: list[CandidateChunk] = []
    for each in gold:
        for found in each.found_in:
            chunk = drifted.corpus[found.chunk_id]
            shown.append(CandidateChunk(chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, text=chunk.text, rank=len(shown)))
        if each.old_text:
            label = f"{each.chunk_id} as it was labelled"
            shown.append(CandidateChunk(chunk_id=label, text=each.old_text, rank=len(shown)))
    return tuple(shown)
