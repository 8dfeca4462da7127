"""Take what a tool gave back out of the content blocks that protocols and models' interfaces wrap it in."""

from typing import Any

from ingest.printed import may_be_printed, printed
from ingest.traces.texts import parsed

_DEEPEST = 4
_TEXT_BLOCKS = frozenset({"text", "output_text", "tool_result", "tool_call_response"})
_BLOCK_KEYS = frozenset({"type", "text", "annotations", "_meta", "citations", "cache_control"})


def plain_result(output: Any, depth: int = 0) -> Any:
    """Return the value inside a tool's result: MCP's and Anthropic's text blocks, Bedrock's `json`, Vercel's `value`.

    Text that spells JSON, or that is what Python prints of a list, is returned as that value.
    """
    found = parsed(output)
    if isinstance(found, str):
        return _unprinted(found)
    if depth > _DEEPEST:
        return found
    if isinstance(found, dict) and (inner := _inside(found)) is not found:
        return plain_result(inner, depth + 1)
    if isinstance(found, list) and found and all(isinstance(item, dict) and _is_block(item) for item in found):
        return _joined([plain_result(_inside(item), depth + 1) for item in found])
    return found


def _unprinted(text: str) -> Any:
    if not may_be_printed(text):
        return text
    try:
        return printed(text)
    except ValueError:
        return text


def _is_block(item: dict[str, Any]) -> bool:
    if item.keys() <= _BLOCK_KEYS:
        return isinstance(item.get("text"), str)
    return item.get("type") in _TEXT_BLOCKS - {"text"} or _inside(item) is not item


def _inside(item: dict[str, Any]) -> Any:
    """Return what a block or a result holds; `item` itself when it is neither."""
    if item.keys() <= _BLOCK_KEYS and isinstance(item.get("text"), str):
        return item["text"]
    if len(item) == 1:
        for key in ("json", "toolResult"):
            if key in item:
                return item[key]
    if item.get("type") in {"json", "text", "content"} and "value" in item:
        return item["value"]
    if item.get("structuredContent"):
        return item["structuredContent"]
    if isinstance(item.get("content"), list) and not item.keys() & {"id", "metadata", "score"}:
        return item["content"]
    return item.get("response", item) if item.get("type") == "tool_call_response" else item


def _joined(inner: list[Any]) -> Any:
    """Return the values of several blocks as one list; a single one stays what it is."""
    if len(inner) == 1:
        return inner[0]
    return [value for held in inner for value in (held if isinstance(held, list) else [held])]
