"""Keys with a value are counted without parsing, never too few, and exactly where no string looks like a key."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.reading import slices
from ingest.reading.blocks import LinePart
from ingest.reading.key_counting import count_keys
from ingest.reading.slices import Written, write_part
from ingest.reading.unwrapping import Layers

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
RECORDS = st.lists(st.dictionaries(st.text(), VALUES, max_size=5), min_size=1, max_size=4)
SPACING = st.sampled_from([(",", ":"), (", ", ": "), (",", ":  "), (",\t", ":\t"), (" ,", " :"), (",", "\t :")])


def valued_keys(value: Any) -> int:
    if isinstance(value, dict):
        return sum((entry is not None) + valued_keys(entry) for entry in value.values())
    return sum(map(valued_keys, value)) if isinstance(value, list) else 0


def part_of(content: bytes) -> LinePart:
    return LinePart("log", "", 0, len(content), content, Layers(), has_prefixes=False, partitions={})


def written(content: bytes, folder: Path) -> Written:
    return write_part(part_of(content), folder / "slice")


@given(RECORDS, SPACING)
def test_never_fewer_keys_are_counted_than_there_are(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], spacing: tuple[str, str]
) -> None:
    content = "\n".join(json.dumps(record, separators=spacing) for record in records).encode()
    counted = written(content, tmp_path_factory.getbasetemp()).valued_keys
    is_spaced = spacing[1].lstrip() != spacing[1]
    assert counted is None if is_spaced and any(records) else counted is None or counted >= valued_keys(records)


@pytest.mark.parametrize("spacing", [(",", ":"), (", ", ": ")], ids=["compact", "spaced"])
def test_keys_are_counted_exactly_whatever_the_pieces(
    spacing: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = {"a": "null: n", "b": None, "c": [{"d": 1, "e": None}, None], "f": {"g": {}, "h": True}, "i": "é \\ ok"}
    content = "".join(json.dumps(record, separators=spacing) + "\n" for _ in range(9)).encode()
    for size in range(1, 40):
        monkeypatch.setattr(slices, "_PIECE_BYTES", size)
        assert written(content, tmp_path) == Written(lines=9, valued_keys=9 * valued_keys(record))
        assert (tmp_path / "slice").read_bytes() == content


@given(st.binary() | st.text('": \nnx', min_size=3).map(str.encode))
def test_the_compiled_loop_counts_what_the_plain_way_counts(content: bytes) -> None:
    compiled = pytest.importorskip("ingest.compiled.key_counting")
    view = np.frombuffer(content, dtype=np.uint8)
    assert compiled.count_keys(view) == count_keys(view)


def test_a_shorter_slice_leaves_nothing_of_the_longer_one_before_it(tmp_path: Path) -> None:
    written(b'{"a": 1}\n' * 50, tmp_path)
    assert written(b'{"b": 2}\n', tmp_path) == Written(lines=1, valued_keys=1)
    assert (tmp_path / "slice").read_bytes() == b'{"b": 2}\n'


def test_parts_of_a_file_hold_each_line_once(tmp_path: Path) -> None:
    source = np.random.default_rng(5)
    lines = [b'{"k": "' + b"x" * int(size) + b'"}' for size in source.integers(0, 40, 60)]
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join(lines))
    size = log.stat().st_size
    for length in (1, 7, 50, 333, size):
        base = LinePart("log", str(log), 0, length, None, Layers(), has_prefixes=False, partitions={})
        keys, content = 0, b""
        for at in range(0, size, length):
            keys += write_part(base._replace(offset=at), tmp_path / "slice").valued_keys or 0
            content += (tmp_path / "slice").read_bytes()
        assert content.splitlines() == lines
        assert keys == len(lines)


class Reluctant(io.RawIOBase):
    """A file that takes three bytes at a time."""

    def __init__(self) -> None:
        self.taken = b""

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:3])
        return min(len(data), 3)


def test_bytes_are_written_whole_when_the_disk_takes_less_at_a_time() -> None:
    file = Reluctant()
    slices.write_all(file, memoryview(b"0123456789"))
    assert file.taken == b"0123456789"
