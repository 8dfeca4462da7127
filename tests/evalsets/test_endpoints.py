from collections.abc import Iterator

import pytest

from evalsets.chunks import Chunk
from evalsets.errors import BadInputError
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.chat_endpoint import ChatPipeline
from evalsets.pipelines.http_endpoint import HttpPipeline, ResponsePaths
from evalsets.report import ItemResult, Report
from evalsets.running.runner import RunSettings, run
from tests.evalsets.run_parts import Endpoint, local_endpoint, question_set

QUICK = RunSettings(call_timeout_s=30.0, retries=1, retry_total_s=5.0, max_error_share=1.0)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with local_endpoint() as served:
        yield served


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalsets.running.calling.FIRST_WAIT_S", 0.01)


def ask_one(endpoint: Endpoint, question: str, settings: RunSettings = QUICK) -> tuple[Report, ItemResult]:
    report = run(question_set(question), HttpPipeline(endpoint.url), FactsJudge(), settings)
    return report, report.items[0]


@pytest.mark.parametrize(
    ("question", "status", "words"),
    [
        ("always429", "error", "answered 429"),
        ("fails", "error", "answered 500: Internal error"),
        ("forbidden", "error", "answered 403: no key"),
        ("html", "error", "answered 200 with HTML"),
        ("nothing", "error", "answered 200 with an empty body"),
        ("null", "error", "answered without any of answer"),
        ("broken", "error", "answered 200 with no JSON"),
        ("strange", "error", "return a list of chunk ids"),
        ("drop", "error", "RemoteProtocolError"),
        ("hang", "timeout", "no answer within 1 s"),
    ],
)
def test_a_failing_endpoint_ends_as_a_clear_line_and_counts_as_a_failure(
    endpoint: Endpoint, question: str, status: str, words: str
) -> None:
    settings = QUICK.model_copy(update={"call_timeout_s": 1.0}) if status == "timeout" else QUICK
    report, item = ask_one(endpoint, question, settings)
    assert item.steps["ask"].status == status
    assert status == "error" or endpoint.asked[question] == 1
    assert words in item.steps["ask"].error
    assert item.steps["judge"].status == "skipped"
    assert report.answer_accuracy == 0.0
    assert report.retrieval_recall == 0.0
    assert report.lenient_accuracy is None
    assert f"1 could not be scored and count as failures (1 {status}: {question})" in report.headline


@pytest.mark.parametrize("question", ["fails", "always429", "drop"])
def test_a_passing_fault_is_tried_again_as_often_as_asked(endpoint: Endpoint, question: str) -> None:
    ask_one(endpoint, question)
    assert endpoint.asked[question] == 2


@pytest.mark.parametrize("question", ["forbidden", "html", "nothing", "broken"])
def test_a_lasting_fault_is_not_tried_again(endpoint: Endpoint, question: str) -> None:
    ask_one(endpoint, question)
    assert endpoint.asked[question] == 1


def test_retries_can_be_switched_off(endpoint: Endpoint) -> None:
    ask_one(endpoint, "fails", QUICK.model_copy(update={"retries": 0}))
    assert endpoint.asked["fails"] == 1


def test_an_endpoint_that_recovers_is_scored_as_if_nothing_had_been(endpoint: Endpoint) -> None:
    report, item = ask_one(endpoint, "recovers")
    assert item.passed
    assert report.status == "complete"
    assert report.not_scored == 0


def test_retry_after_is_waited_for(endpoint: Endpoint) -> None:
    import time

    started = time.monotonic()
    _, item = ask_one(endpoint, "limited")
    assert item.passed
    assert time.monotonic() - started >= 0.2


def test_jmespath_finds_answer_chunks_and_tokens_wherever_they_stand(endpoint: Endpoint) -> None:
    pipeline = HttpPipeline(
        endpoint.url,
        body={"question": "{question}", "options": {"top_k": "{k}", "note": "about {item_id}"}},
        paths=ResponsePaths("data.reply", "data.hits", input_tokens="usage.in", output_tokens="usage.out"),
    )
    report = run(question_set("fine"), pipeline, FactsJudge(), QUICK)
    assert report.passed == 1
    assert report.retrieval_recall == 1.0
    assert report.items[0].retrieved[0].score == 0.5
    assert report.metrics["tokens"].sum == 15


def test_a_header_from_the_environment_is_sent_but_never_written_down(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", "s3cret")
    pipeline = HttpPipeline(endpoint.url, headers={"Authorization": "Bearer ${DESK_TOKEN}"})
    report = run(question_set("fine"), pipeline, FactsJudge(), QUICK)
    assert endpoint.headers_seen[0]["Authorization"] == "Bearer s3cret"
    assert b"s3cret" not in report.to_bytes()


def test_a_missing_environment_variable_is_named() -> None:
    pipeline = HttpPipeline("http://127.0.0.1:9/", headers={"Authorization": "${NO_SUCH_TOKEN}"})
    report = run(question_set("fine"), pipeline, FactsJudge(), QUICK)
    assert "NO_SUCH_TOKEN is not set" in report.items[0].reason


def test_an_expression_that_is_no_jmespath_is_refused_before_the_run() -> None:
    with pytest.raises(BadInputError, match="no JMESPath"):
        HttpPipeline("http://127.0.0.1:9/", paths=ResponsePaths(answer="a[["))


def test_a_chat_endpoint_answers_over_the_corpus_with_tokens_and_cost(endpoint: Endpoint) -> None:
    pipeline = ChatPipeline(
        [Chunk("c1", "The fine answer is yes."), Chunk("c2", "Parking is free.")],
        base_url=endpoint.url,
        model="tiny",
        input_price=2.0,
        output_price=10.0,
    )
    report = run(question_set("fine"), pipeline, FactsJudge(), QUICK)
    assert report.passed == 1
    assert report.retrieval_recall == 1.0
    assert report.metrics["cost"].sum == pytest.approx((1000 * 2 + 10 * 10) / 1e6)


def test_many_rate_limits_slow_the_run_and_every_item_is_answered(endpoint: Endpoint) -> None:
    eval_set = question_set(*(f"limited {number}" for number in range(12)))
    seen: list[int] = []
    report = run(
        eval_set,
        HttpPipeline(endpoint.url),
        FactsJudge(),
        QUICK.model_copy(update={"concurrency": 6, "retries": 5}),
        observer=lambda progress: seen.append(progress.slowed),
    )
    assert report.passed == 12
    assert max(seen) >= 1
