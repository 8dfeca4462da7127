"""The short list gives each signal a fair part of its places, by lot, and tells the chance of each that it takes."""

from collections import Counter

import duckdb
import pytest

from ingest.mining.shortlist import Stratum, keep_crowded, shortlist, with_quotas
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.columns import SignalColumns
from ingest.signals.duckdb_engine import DuckDBSignals

SIGNALS = {"thumbs_down": (0.9, 600), "declined": (0.44, 300), "slow": (0.1, 30)}
RANKS = """
CREATE TABLE ranks AS
SELECT row_number() OVER () AS line, row_number() OVER () // $turns AS session,
    substr(md5(concat($seed, i, sampling_signal)), 9, 12) AS lot,
    greatest(0.01, raised - hash(i) % 7 / 100) AS raised, sampling_signal
FROM (SELECT unnest($names) AS sampling_signal, unnest($weights) AS raised, unnest($counts) AS flagged),
    range(flagged) AS r(i)
"""
Chosen = dict[int, tuple[float, str, float]]


def chosen(queue: QueueSettings, *, seed: int = 0, turns: int = 1) -> Chosen:
    with duckdb.connect() as connection:
        asked = {
            "names": list(SIGNALS),
            "weights": [weight for weight, _ in SIGNALS.values()],
            "counts": [count for _, count in SIGNALS.values()],
        }
        connection.execute(RANKS, {**asked, "seed": f"{seed}:", "turns": turns})
        engine = DuckDBSignals(connection, SignalColumns(SignalSettings()))
        keep_crowded(engine, queue)
        kept = shortlist(engine, queue).kept
        rows = engine.rows("SELECT line, priority, sampling_signal, probability FROM chosen")
        assert len(rows) == kept
        return {line: (priority, signal, probability) for line, priority, signal, probability in rows}


def by_signal(found: Chosen) -> Counter[str]:
    return Counter(signal for _, signal, _ in found.values())


def test_all_are_taken_with_certainty_where_there_are_places_for_all() -> None:
    found = chosen(QueueSettings(limit=1_000))
    assert by_signal(found) == {signal: count for signal, (_, count) in SIGNALS.items()}
    assert {probability for _, _, probability in found.values()} == {1.0}


def test_a_weak_signal_gets_as_many_of_the_shared_places_as_a_strong_one() -> None:
    counts = by_signal(chosen(QueueSettings(limit=90, signal_share=1)))
    assert counts == {"thumbs_down": 30, "declined": 30, "slow": 30}


def test_what_a_rare_signal_leaves_goes_to_the_others() -> None:
    counts = by_signal(chosen(QueueSettings(limit=330, signal_share=1)))
    assert counts == {"thumbs_down": 150, "declined": 150, "slow": 30}


def test_the_best_by_priority_come_first_and_none_ties_with_one_that_is_left_out() -> None:
    found = chosen(QueueSettings(limit=400, signal_share=0.5))
    certain = {priority for priority, _, probability in found.values() if probability == 1 and priority > 0.5}
    drawn = {
        priority for priority, signal, probability in found.values() if probability < 1 and signal == "thumbs_down"
    }
    assert certain
    assert min(certain) > max(drawn)
    assert len(found) == 400


def test_the_chances_add_up_to_what_was_flagged_of_each_signal() -> None:
    found = chosen(QueueSettings(limit=120, signal_share=0.75))
    estimated = {
        name: round(sum(1 / probability for _, signal, probability in found.values() if signal == name))
        for name in SIGNALS
    }
    assert estimated == {name: count for name, (_, count) in SIGNALS.items()}


def test_those_left_out_for_their_crowded_session_lower_the_chance_of_the_others() -> None:
    found = chosen(QueueSettings(limit=1_000, per_session=5), turns=50)
    assert max(Counter(line // 50 for line in found).values()) == 5
    assert all(probability < 0.2 for _, _, probability in found.values())


def test_the_same_seed_draws_the_same_and_another_seed_others() -> None:
    queue = QueueSettings(limit=90, signal_share=1)
    once, again, other = chosen(queue, seed=1), chosen(queue, seed=1), chosen(queue, seed=2)
    assert once == again
    assert len(once.keys() & other.keys()) < 60


def test_every_one_of_a_stratum_is_drawn_about_equally_often() -> None:
    drawn: Counter[int] = Counter()
    for seed in range(40):
        found = chosen(QueueSettings(limit=90, signal_share=1), seed=seed)
        drawn.update(line for line, (_, signal, _) in found.items() if signal == "thumbs_down")
    assert drawn.total() == 40 * 30
    assert len(drawn) > 480
    assert max(drawn.values()) <= 10


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_quotas_never_exceed_the_places_or_what_there_is(limit: int) -> None:
    strata = [Stratum("a", is_top=False, total=5, eligible=4), Stratum("b", is_top=False, total=90, eligible=90)]
    quotas = {each.signal: each.quota for each in with_quotas(strata, limit)}
    assert sum(quotas.values()) == min(limit, 94)
    assert quotas["a"] <= 4
