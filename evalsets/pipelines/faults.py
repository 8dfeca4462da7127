"""What can go wrong with one call, and whether trying again can help."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from evalsets.errors import ErrataError

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
RATE_LIMIT_STATUSES = frozenset({429, 529})
_TRANSIENT_TYPES = frozenset(
    {
        "APIConnectionError",
        "APITimeoutError",
        "ConnectError",
        "ConnectTimeout",
        "InternalServerError",
        "ModelConnectionError",
        "OverloadedError",
        "PoolTimeout",
        "RateLimitError",
        "ReadError",
        "ReadTimeout",
        "RemoteProtocolError",
        "ServiceUnavailableError",
        "WriteError",
        "WriteTimeout",
    }
)


class CallFailedError(ErrataError):
    """One call failed; trying it again would fail the same way."""

    def __init__(self, message: str, *, raw: str = "") -> None:
        """Keep `raw`, the start of what came back, for the journal."""
        super().__init__(message)
        self.raw = raw


class TransientCallError(CallFailedError):
    """One call failed in a way that may pass; `retry_after_s` is what the other side asked for."""

    def __init__(
        self, message: str, *, raw: str = "", retry_after_s: float | None = None, is_rate_limit: bool = False
    ) -> None:
        super().__init__(message, raw=raw)
        self.retry_after_s = retry_after_s
        self.is_rate_limit = is_rate_limit


def classify(error: Exception) -> CallFailedError:
    """Return the fault an exception of user code or of a client library means; unknown ones are not transient."""
    if isinstance(error, CallFailedError):
        return error
    status = _status_of(error)
    message = described(error)
    if status in TRANSIENT_STATUSES or _is_transient_type(error):
        return TransientCallError(
            message,
            retry_after_s=retry_after_seconds(_headers_of(error)),
            is_rate_limit=status in RATE_LIMIT_STATUSES or type(error).__name__ == "RateLimitError",
        )
    return CallFailedError(
        str(error) if isinstance(error, ErrataError) else message, raw=str(getattr(error, "raw", ""))[:2000]
    )


def fault_of_status(status: int, *, where: str, headers: Mapping[str, str], body: str) -> CallFailedError:
    """Return the fault an HTTP answer with an error status means."""
    message = f"{where} answered {status}: {_one_line(body) or 'an empty body'}"
    if status not in TRANSIENT_STATUSES:
        return CallFailedError(message, raw=body[:2000])
    return TransientCallError(
        message,
        raw=body[:2000],
        retry_after_s=retry_after_seconds(headers),
        is_rate_limit=status in RATE_LIMIT_STATUSES,
    )


def retry_after_seconds(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the wait a Retry-After header asks for, in seconds, or None; both forms of RFC 9110, 10.2.3."""
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return max(0.0, seconds)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _is_transient_type(error: Exception) -> bool:
    names = {cls.__name__ for cls in type(error).__mro__}
    return isinstance(error, (ConnectionError, TimeoutError)) or bool(names & _TRANSIENT_TYPES)


def _status_of(error: Exception) -> int | None:
    holders = (error, getattr(error, "response", None))
    for holder in holders:
        for name in ("status_code", "status", "code", "http_status"):
            if isinstance(value := getattr(holder, name, None), int):
                return value
    return None


def _headers_of(error: Exception) -> Mapping[str, str]:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    return {str(name).lower(): str(value) for name, value in headers.items()} if hasattr(headers, "items") else {}


def described(error: Exception) -> str:
    """Return what an exception says on one line, with the function, line and file that raised it."""
    place = _place_of(error)
    text = _one_line(str(error))
    return f"{type(error).__name__}{f': {text}' if text else ''}{place}"


def _place_of(error: Exception) -> str:
    traceback = error.__traceback__
    if traceback is None:
        return ""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return f" (in {code.co_name}, line {traceback.tb_lineno} of {code.co_filename.rsplit('/', 1)[-1]})"


def _one_line(text: str, limit: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
