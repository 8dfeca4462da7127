"""Redacts spans before they are stored: one look through all their texts tells which need a closer one."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Protocol

from ingest.adapters.base import Span
from ingest.privacy_patterns import ID_KEY
from ingest.staging import as_json
from ingest.traces.facts import SpanFacts, as_facts, payload_text, payload_texts, plain_payload

_TEXT_FIELDS = ("name", "question", "answer", "query", "model", "prompt_version", "error")


class SpanRedactor(Protocol):
    """What redacting spans takes of a redactor."""

    hash_user: Callable[[str], str]

    @property
    def is_off(self) -> bool:
        """Whether texts stay as they are."""

    @property
    def walks_all(self) -> bool:
        """Whether no look ahead tells which texts need a closer one."""

    def hinted(self, texts: Sequence[str | None]) -> list[int]:
        """Return the places of the texts that need a closer look."""

    def hints(self, texts: Any) -> Any:
        """Return which texts of an Arrow array need a closer look."""

    def leaf(self, value: str, key: str, user_id: str | None = None) -> str:
        """Redact a string that stands under `key`."""

    def value(self, value: Any, key: str = "", user_id: str | None = None) -> Any:
        """Redact the string leaves of a JSON value; a leaf that is the user id becomes its hash."""


def redacted_spans(redactor: SpanRedactor, spans: Sequence[Span]) -> list[Span]:
    """Redact payloads and write them out, and hash user ids, also where they stand in a payload."""
    hinted = frozenset(hinted_spans(redactor, spans))
    out = []
    for at, (span, text) in enumerate(zip(spans, payload_texts([span.payload for span in spans]), strict=True)):
        trace_id, span_id, payload, started_ns, version_ns, user, _, written = *span[:7], text
        named = user and is_named(user, written)
        if named or at in hinted:
            payload = _walked(redactor, payload, user) if named else _closely_read(redactor, payload)
            written = payload_text(payload)
        hashed = user and redactor.hash_user(user)
        out.append(Span(trace_id, span_id, payload, started_ns, version_ns, hashed, None, written))
    return out


def _walked(redactor: SpanRedactor, payload: Any, user: str | None = None) -> Any:
    plain = redactor.value(plain_payload(payload), user_id=user)
    return as_facts(plain) if isinstance(payload, SpanFacts) else plain


def _closely_read(redactor: SpanRedactor, payload: Any) -> Any:
    """Redact a payload in which the user is not named; of facts only the texts, unless an id is an address."""
    if not isinstance(payload, SpanFacts) or payload.addresses():
        return _walked(redactor, payload)
    for name in _TEXT_FIELDS:
        text = getattr(payload, name)
        if text:
            setattr(payload, name, redactor.leaf(text, name))
    payload.metadata = redactor.value(payload.metadata, "metadata")
    return payload


def is_named(user: str, written: str) -> bool:
    """Return whether a payload, written out, holds a user id."""
    return (as_written(user) or "") in written


@lru_cache(maxsize=1 << 14)
def as_written(user: str | None) -> str | None:
    """Return a user id as it stands in a payload that is written out."""
    if not user:
        return None
    is_plain = user.isascii() and user.isprintable() and '"' not in user and "\\" not in user
    return user if is_plain else as_json(user)[1:-1]


def hinted_spans(redactor: SpanRedactor, spans: Sequence[Span]) -> Iterable[int]:
    """Return the places of spans with a text that needs a closer look; a text of several spans is looked at once."""
    if redactor.walks_all or redactor.is_off:
        return range(len(spans) if redactor.walks_all else 0)
    metadata: dict[int, str] = {}
    listed = [
        span.payload.loose_texts(metadata) if isinstance(span.payload, SpanFacts) else _loose_texts(span.payload)
        for span in spans
    ]
    distinct = list(dict.fromkeys(chain.from_iterable(listed)))
    found = {distinct[at] for at in redactor.hinted(distinct)}
    return [at for at, texts in enumerate(listed) if not found.isdisjoint(texts)] if found else ()


def _loose_texts(payload: dict[str, Any]) -> list[str]:
    """Return what of a payload may be replaced: all but ids, times and counts without an @."""
    found = []
    for key, value in payload.items():
        if isinstance(value, (str, dict, list)):
            text = value if isinstance(value, str) else as_json(value)
            if not _names_an_id(key) or "@" in text:
                found.append(text)
    return found


@lru_cache(maxsize=4096)
def _names_an_id(key: str) -> bool:
    return ID_KEY.search(key) is not None
