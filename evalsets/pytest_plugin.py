"""pytest plugin: `pytest --errata-set SET` makes one test of each item, and hands items to tests that ask for them."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evalsets.eval_set import EvalSet
    from evalsets.report import ItemResult

FIXTURE = "errata_item"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("errata", "run a pipeline over an eval set, one test an item")
    group.addoption("--errata-set", metavar="SET", help="eval set: a set file, its folder, or a JSON list of items")
    group.addoption(
        "--errata-pipeline",
        metavar="PIPELINE",
        help="module:attr, a URL, a JSONL file of recorded responses, logged, or keyword; without it no test is made, "
        "and the set only feeds tests that take errata_item",
    )
    group.addoption("--errata-corpus", metavar="FILE", help="JSONL of chunks for the keyword pipeline")
    group.addoption("--errata-k", type=int, default=10, metavar="K", help="how many chunks are retrieved (default 10)")
    group.addoption("--errata-concurrency", type=int, default=20, metavar="N", help="calls in flight (default 20)")


def pytest_configure(config: pytest.Config) -> None:
    """Register the modes as markers, so that `-m refusal` selects and strict markers stay content."""
    if not config.getoption("--errata-set"):
        return
    from evalsets.items import Mode

    for mode in Mode:
        config.addinivalue_line("markers", f"{mode.value}: items of this mode of an eval set")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that takes `errata_item` one item of the set at a time."""
    if FIXTURE not in metafunc.fixturenames:
        return
    reference = metafunc.config.getoption("--errata-set")
    items = _load(reference).items if reference else ()
    metafunc.parametrize(FIXTURE, [pytest.param(item, id=item.id) for item in items])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add one test an item, before -k and -m select."""
    reference = config.getoption("--errata-set")
    if reference and config.getoption("--errata-pipeline"):
        collector = EvalSetCollector.from_parent(session, name=str(reference))
        items.extend(collector.collect())


class EvalSetCollector(pytest.Collector):
    """The tests of one set; runs the items that were selected together when the first of them is due."""

    @cached_property
    def eval_set(self) -> "EvalSet":
        """Return the set."""
        return _load(self.name)

    def collect(self) -> Iterator["EvalItemTest"]:
        """Yield one test an item; known failures are expected to fail."""
        known = {entry.id: entry.reason for entry in self.eval_set.known_failing}
        for item in self.eval_set.items:
            test = EvalItemTest.from_parent(self, name=item.id)
            test.add_marker(item.mode.value)
            if item.id in known:
                test.add_marker(pytest.mark.xfail(reason=known[item.id], strict=False))
            yield test

    def result_of(self, item_id: str) -> "ItemResult":
        """Return what became of one item."""
        if hasattr(self.config, "workerinput"):
            return self._run({item_id})[item_id]
        return self._results[item_id]

    @cached_property
    def _results(self) -> "dict[str, ItemResult]":
        return self._run({test.name for test in self.session.items if test.parent is self})

    def _run(self, ids: set[str]) -> "dict[str, ItemResult]":
        from evalsets.judges.base import FactsJudge
        from evalsets.pipelines.loading import pipeline_for
        from evalsets.running.runner import RunSettings, run

        option = self.config.getoption
        chosen = self.eval_set.changed(
            items=tuple(item for item in self.eval_set.items if item.id in ids), known_failing=(), content_hash=""
        )
        pipeline = pipeline_for(option("--errata-pipeline"), {}, _around(option("--errata-corpus")))
        settings = RunSettings(k=option("--errata-k"), concurrency=option("--errata-concurrency"), max_error_share=1.0)
        return {result.id: result for result in run(chosen, pipeline, FactsJudge(), settings).items}


class ItemFailedError(Exception):
    """An item of the set did not pass."""


class EvalItemTest(pytest.Item):
    """One item of the set as a test."""

    def runtest(self) -> None:
        """Fail when the item did not pass."""
        parent = self.parent
        result = parent.result_of(self.name) if isinstance(parent, EvalSetCollector) else None
        if result is not None and not result.passed:
            raise ItemFailedError(_told(result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the question, the answer and the reason, without a traceback of ours."""
        if isinstance(excinfo.value, ItemFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the item stands, and its name."""
        return Path(self.parent.name if self.parent else ""), None, self.name


def _load(reference: str) -> "EvalSet":
    from evalsets.errors import ErrataError
    from evalsets.sets.file import load

    try:
        return load(reference)
    except ErrataError as error:
        raise pytest.UsageError(str(error)) from error


def _around(corpus: str | None) -> Any:
    from evalsets.corpus_file import read_corpus
    from evalsets.errors import BadInputError
    from evalsets.pipelines.loading import Surroundings

    def chunks() -> Any:
        if corpus is None:
            raise BadInputError("the keyword pipeline needs --errata-corpus FILE")
        return read_corpus(Path(corpus))

    return Surroundings(chunks, Path.cwd())


def _told(result: "ItemResult") -> str:
    lines = [
        f"{result.id} [{result.mode.value}] {result.reason}",
        f"  question: {result.question}",
        f"  expected: {result.expected}",
        f"  answer:   {'(none)' if result.answer is None else result.answer}",
    ]
    if result.cause:
        lines.append(f"  {result.cause}: {result.cause_evidence}")
    return "\n".join(lines)
