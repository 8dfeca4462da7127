"""The base error every package raises, and the exit codes the command line answers with."""

from collections.abc import Sequence
from enum import IntEnum


class ExitCode(IntEnum):
    """What a process says when it ends; only the command line turns it into an exit."""

    DONE = 0
    GATE_FAILED = 1
    BAD_INPUT = 2
    SET_DOES_NOT_FIT_CORPUS = 3
    RUN_INCOMPLETE = 4
    INTERRUPTED = 130


class ErrataError(Exception):
    """Something a person can put right: the message says what happened, which value, and what to do next."""

    exit_code = ExitCode.BAD_INPUT


class BadInputError(ErrataError):
    """A file, value or option that cannot be used as it is."""


class FaultsError(ErrataError):
    """Several faults found in one pass, raised together so that all can be mended at once."""

    def __init__(self, headline: str, faults: Sequence[str]) -> None:
        """Keep the faults apart from the headline, for callers that render them as a table."""
        self.headline = headline
        self.faults = tuple(faults)
        super().__init__("\n".join([headline, *(f"  - {fault}" for fault in self.faults)]))


class CorpusMismatchError(ErrataError):
    """The eval set's gold chunks no longer stand in the corpus."""

    exit_code = ExitCode.SET_DOES_NOT_FIT_CORPUS


class RunIncompleteError(ErrataError):
    """A run stopped before every item was scored; its journal can be resumed."""

    exit_code = ExitCode.RUN_INCOMPLETE
