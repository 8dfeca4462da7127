"""Write the spans of a trace as one payload for the store, read them back, and bring several payloads together."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import orjson
import pyarrow as pa

from ingest.adapters.base import Span, Trace
from ingest.traces.facts import payload_text

_UNWRITABLE = (TypeError, ValueError, OverflowError)


class StagedSpan(NamedTuple):
    """One span as it stands in the store; `payload` is JSON text."""

    span_id: str
    adapter: str
    started_ns: int
    version_ns: int
    user_id: str | None
    payload: msgspec.Raw

    @property
    def rank(self) -> tuple[int, int, bytes]:
        """What decides which of two states of a span stays: the greater version, else the longer payload."""
        text = bytes(self.payload)
        return self.version_ns, len(text), text


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[tuple[str, str, int, int, str | None, msgspec.Raw]]).decode


def in_order(spans: list[Span]) -> list[Span]:
    """Return the spans of a trace that one adapter read by start time, then span id, each once."""
    if len(spans) > 1:
        spans = sorted(spans, key=_place)
        if len({span.span_id for span in spans}) < len(spans):
            return _each_once(spans)
    return spans


def _place(span: Span) -> tuple[int, str]:
    return span.started_ns, span.span_id


def _each_once(spans: list[Span]) -> list[Span]:
    kept: dict[str, tuple[tuple[int, int, bytes], Span]] = {}
    for span in spans:
        rank = _staged(span, "").rank
        if span.span_id not in kept or rank > kept[span.span_id][0]:
            kept[span.span_id] = rank, span
    return sorted((span for _, span in kept.values()), key=_place)


def packed(content: bytes) -> bytes:
    """Return the JSON text of the spans of a trace in the form in which the store keeps it: a mark, its length, LZ4."""
    return _PACKED + len(content).to_bytes(4, "little") + bytes(_codec.compress(content, asbytes=True))


def packed_together(content: bytes) -> bytes:
    """Return the JSON texts of several traces in the form in which the store keeps them: a mark, their length, Zstd."""
    return _TOGETHER + len(content).to_bytes(4, "little") + bytes(_tight_codec.compress(content, asbytes=True))


def unpacked(payload: bytes) -> bytes:
    """Return the JSON text of a payload; one from before payloads were packed is such a text itself."""
    codec = _CODECS.get(payload[:1])
    if codec is None:
        return payload
    text: bytes = codec.decompress(payload[5:], int.from_bytes(payload[1:5], "little"), asbytes=True)
    return text


_PACKED, _TOGETHER = b"\x01", b"\x02"
_codec, _tight_codec = pa.Codec("lz4_raw"), pa.Codec("zstd", compression_level=1)
_CODECS = {_PACKED: _codec, _TOGETHER: _tight_codec}


def written_spans(spans: Sequence[Span], adapter: str) -> bytes:
    """Return redacted spans in the form in which the store keeps them; they must be in order."""
    plain = [_plainly_written(span, adapter) for span in spans]
    if adapter.isalnum() and None not in plain:
        return packed(f"[{','.join(plain)}]".encode())  # type: ignore[arg-type] # mypy does not see the check
    return written([_staged(span, adapter) for span in spans])


def _plainly_written(span: Span, adapter: str) -> str | None:
    """Return a span as `written` writes it, when none of its ids needs escaping and its payload is written."""
    _, span_id, _, started_ns, version_ns, user, _, payload = span
    if not payload or not span_id.isalnum() or not (user is None or user.isalnum()):
        return None
    whose = f'"{user}"' if user is not None else "null"
    return f'["{span_id}","{adapter}",{started_ns},{version_ns},{whose},{payload}]'


def _staged(span: Span, adapter: str) -> StagedSpan:
    payload = msgspec.Raw((span.written or payload_text(span.payload)).encode())
    return StagedSpan(span.span_id, adapter, span.started_ns, span.version_ns, span.user_id, payload)


def written(spans: Sequence[StagedSpan]) -> bytes:
    """Return staged spans in the form in which the store keeps them."""
    return packed(_text_of(spans).encode())


def _text_of(spans: Sequence[StagedSpan]) -> str:
    try:
        return _encode(spans).decode()
    except _UNWRITABLE:  # an id that is no Unicode
        heads = (json.dumps(list(span[:-1])) for span in spans)
        texts = (bytes(span.payload).decode() for span in spans)
        return "[" + ",".join(f"{head[:-1]},{text}]" for head, text in zip(heads, texts, strict=True)) + "]"


def read_spans(payload: bytes) -> list[StagedSpan]:
    """Return what `written_spans` wrote."""
    text = unpacked(payload)
    try:
        return [StagedSpan(*row) for row in _decode(text)]
    except msgspec.DecodeError:
        return [StagedSpan._make([*row[:-1], msgspec.Raw(json.dumps(row[-1]).encode())]) for row in json.loads(text)]


def together(payloads: Iterable[bytes]) -> list[StagedSpan]:
    """Return the spans of several payloads of one trace in order, of each the newest state, whatever their order."""
    kept: dict[tuple[str, str], StagedSpan] = {}
    for span in (span for payload in payloads for span in read_spans(payload)):
        key = span.span_id, span.adapter
        known = kept.get(key)
        if known is None or span.rank > known.rank:
            kept[key] = span
    return sorted(kept.values(), key=lambda span: (span.started_ns, span.span_id, span.adapter))


def trace_of(trace_id: str, spans: Iterable[StagedSpan]) -> Trace:
    """Return the trace that staged spans make up."""
    return Trace(
        trace_id,
        tuple(
            Span(
                trace_id,
                span.span_id,
                read_payload(bytes(span.payload)),
                span.started_ns,
                span.version_ns,
                span.user_id,
            )
            for span in spans
        ),
    )


def read_payload(payload: bytes | str) -> Any:
    """Return what a payload's JSON text says."""
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return json.loads(payload)
