from datetime import date
from typing import Any

import pytest

from evalsets.chunks import Chunk
from evalsets.eval_set import AllowedCheck, EvalSet, KnownFailing
from evalsets.items import Author, Item, Logged, Mode, Source, Split
from evalsets.sets.checks import CheckReport, check
from tests.evalsets.set_samples import CORPUS, item

TODAY = date(2026, 11, 30)


def checked(*items: Item, **more: Any) -> CheckReport:
    return check(EvalSet(name="s", items=items), today=TODAY, **more)


def codes(report: CheckReport) -> set[str]:
    return {finding.code for finding in report.findings} - {"too-few"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"question": "  "}, "empty-question"),
        ({"expected": ""}, "empty-expected"),
        ({"gold_chunk_ids": (), "gold_chunks": ()}, "empty-gold"),
        ({"mode": Mode.OUT_OF_SCOPE}, "gold-out-of-scope"),
        ({"answer_facts": (("30 days",),), "forbidden": ("30 days",), "expected": ""}, "contradiction"),
        ({"expected": "It takes 14 days.", "forbidden": ("14 days",)}, "contradiction"),
        ({"answer_facts": ((" ",),)}, "empty-fact"),
        ({"question": "Why was bo.lee@corp.io charged twice?"}, "personal-details"),
        ({"note": "call +49 171 2345678"}, "personal-details"),
        ({"expected": "Pay to DE89 3704 0044 0532 0130 00"}, "personal-details"),
        ({"logged": Logged(answer="Your card 4111 1111 1111 1111 was charged")}, "personal-details"),
    ],
)
def test_an_item_that_cannot_stand_is_an_error(fields: dict[str, Any], code: str) -> None:
    report = checked(item("a", "How long do refunds take?").model_copy(update=fields))
    assert code in {finding.code for finding in report.errors}


def test_a_sound_item_passes_every_rule() -> None:
    assert codes(checked(item("a", "How long do refunds take?"), corpus=CORPUS)) == set()


def test_reserved_example_addresses_and_order_numbers_are_no_personal_details() -> None:
    fine = item("a", "Is help@example.com right for order 20261130-0042, version 10.4.2?")
    assert "personal-details" not in codes(checked(fine))


def test_a_hotline_that_the_gold_itself_names_is_no_personal_detail() -> None:
    hotline = item("a", "How do I call you?", expected="Call 0800 5550100.")
    assert "personal-details" in codes(checked(hotline))
    corpus = {"kb-1#0": Chunk("kb-1#0", "Our hotline is 0800 5550100, all day.")}
    assert "personal-details" not in codes(checked(hotline, corpus=corpus))


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        ("How long do refunds take?", "how long do REFUNDS take", "duplicate-question"),
        ("How do I reset my password?", "How do I reset my pasword", "near-duplicate"),
        ("Where is the VPN client download?", "Please, where is the VPN client download", "near-duplicate"),
        ("How long do refunds for the annual plan take?", "How long do refunds for the monthly plan take?", ""),
        ("How are refunds paid?", "When are refunds paid?", ""),
        ("Can I take 5 days off?", "Can I take 6 days off?", ""),
        ("Can I pay by card?", "Can I not pay by card?", ""),
    ],
)
def test_questions_that_ask_the_same_are_told_from_those_that_only_look_alike(one: str, other: str, code: str) -> None:
    found = codes(checked(item("a", one), item("b", other))) & {"duplicate-question", "near-duplicate"}
    assert found == ({code} if code else set())


def test_paraphrases_that_share_a_group_are_kept_on_purpose() -> None:
    rows = [item(id_, "How do I reset my password?", group="g") for id_ in ("a", "b")]
    assert codes(checked(*rows)) == set()
    disagreeing = [rows[0], item("b", "How do I reset my password?", Mode.OUT_OF_SCOPE, group="g")]
    assert codes(checked(*disagreeing)) == {"contradiction"}


def test_the_same_question_cannot_be_answerable_and_out_of_scope() -> None:
    report = checked(item("a", "Who pays?"), item("b", "Who pays", Mode.OUT_OF_SCOPE))
    assert "contradiction" in codes(report)


def test_near_duplicates_across_the_split_leak() -> None:
    rows = [item("a", "Who pays the fee?", split=Split.DEV), item("b", "who pays the fee", split=Split.HOLDOUT)]
    assert "split-leak" in codes(checked(*rows))


def test_gold_that_the_corpus_does_not_hold_is_an_error_and_changed_gold_a_warning() -> None:
    report = checked(item("a", "Who pays?"), corpus={})
    assert [finding.code for finding in report.errors] == ["gold-not-in-corpus"]
    report = checked(item("a", "Who pays?"), corpus={"kb-1#0": Chunk("kb-1#0", "another text")})
    assert "gold-text-changed" in {finding.code for finding in report.warnings}


def test_an_id_that_changed_under_the_same_question_is_an_error() -> None:
    parent = EvalSet(name="s", version=1, items=(item("old-id", "Who pays the fee?"),))
    report = checked(item("new-id", "Who pays the fee?"), parent=parent)
    assert "keep that id" in report.errors[0].message


def test_an_item_its_own_logged_failure_would_pass_is_named() -> None:
    wrong = item("a", "How long?", expected="30 days", logged=Logged(answer="It takes 30 days, or 14."))
    assert "passes-own-check" in codes(checked(wrong))
    sharper = wrong.model_copy(update={"forbidden": ("14",)})
    assert "passes-own-check" not in codes(checked(sharper))
    declined = item("b", "Parental leave?", Mode.OUT_OF_SCOPE, logged=Logged(answer="I have no information on that."))
    assert "passes-own-check" in codes(checked(declined))


def test_a_fact_that_no_gold_chunk_contains_is_a_warning() -> None:
    report = checked(item("a", "How long?", answer_facts=(("45 days",), ("30 days",))), corpus=CORPUS)
    assert [f.message for f in report.warnings if f.code == "fact-not-in-gold"] == [
        "no gold chunk contains the fact '45 days'"
    ]


def test_the_mix_the_makers_and_the_size_of_a_set_are_weighed() -> None:
    words = ("alpha", "bravo", "delta", "gamma", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo")
    rows = [item(word, f"What is {word}?", source=Source.SYNTHETIC, labelled_by=Author(name="Ada")) for word in words]
    assert codes(checked(*rows)) == {"mode-mix", "no-controls", "one-labeller", "all-synthetic", "no-multi-hop"}
    assert any("retrieval_miss 12 (8 points an item)" in f.message for f in checked(*rows).warnings)


def test_an_overdue_known_failure_is_named_with_its_owner() -> None:
    entry = KnownFailing(id="a", reason="x", owner="Bo", since=date(2026, 1, 1), review_by=date(2026, 2, 1))
    eval_set = EvalSet(name="s", items=(item("a", "Why?"),), known_failing=(entry,))
    assert "known-failing-overdue" in codes(check(eval_set, today=TODAY))


def test_an_allowed_code_no_longer_blocks_but_stays_in_the_report() -> None:
    broken = item("a", "Why?", expected="")
    report = checked(broken, allow=[AllowedCheck(code="empty-expected", reason="later")])
    assert (len(report.errors), report.blocking) == (1, ())
