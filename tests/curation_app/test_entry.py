"""One owner of stderr and exit codes."""

import errno

import pytest

from curation_app.cli import entry
from evalsets.errors import CorpusMismatchError, ErrataError, ExitCode


def fails_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def raise_it(_argv: object) -> int:
        raise error

    monkeypatch.setattr(entry, "_run_command", raise_it)
    return entry.run(["gate"])


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ErrataError("no such set"), ExitCode.BAD_INPUT, "error: no such set"),
        (CorpusMismatchError("gold is gone"), ExitCode.SET_DOES_NOT_FIT_CORPUS, "error: gold is gone"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "error: interrupted; what was finished is kept"),
        (
            OSError(errno.ENOSPC, "No space left", "a.part"),
            ExitCode.BAD_INPUT,
            "cannot write 'a.part': No space left. Make",
        ),
        (OSError(errno.EBADF, "Bad descriptor"), ExitCode.BAD_INPUT, "a defect in errata"),
        (KeyError("x"), ExitCode.BAD_INPUT, "a defect in errata"),
    ],
)
def test_every_error_has_its_words_and_its_exit_code(
    error: BaseException,
    code: ExitCode,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert fails_with(error, monkeypatch) == code
    assert words in capsys.readouterr().err


def test_wrong_usage_is_exit_two_with_nothing_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["gate", "--no-such-option"]) == ExitCode.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
