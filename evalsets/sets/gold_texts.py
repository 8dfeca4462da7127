"""The texts of gold chunks as they were when a person picked them, kept beside the set by their hash."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.errors import FaultsError
from evalsets.items import GoldChunk, Item


def gold_texts_file(set_file: Path) -> Path:
    """Return the file of gold texts that belongs to a set file: `failures.json` has `failures.gold.jsonl`."""
    return set_file.with_name(f"{set_file.name.removesuffix('.json')}.gold.jsonl")


def load_gold_texts(path: Path) -> dict[str, str]:
    """Return text by text hash; empty when there is no such file. FaultsError names each text that was changed."""
    if not path.is_file():
        return {}
    faults, texts = [], {}
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), start=1):
        entry = _parsed(line)
        if entry is None:
            faults.append(f"line {number}: not an object with text and text_hash")
        elif chunk_text_hash(entry["text"]) != entry["text_hash"]:
            faults.append(f"line {number}: the text does not have the hash {entry['text_hash']!r}")
        else:
            texts[entry["text_hash"]] = entry["text"]
    if faults:
        raise FaultsError(f"{path} has {len(faults)} fault(s); restore it from version control:", faults)
    return texts


def _parsed(line: str) -> dict[str, str] | None:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        return None
    is_entry = isinstance(entry, dict) and entry.keys() == {"text", "text_hash"}
    return entry if is_entry and all(isinstance(value, str) for value in entry.values()) else None


def gold_texts_bytes(texts: Mapping[str, str]) -> bytes:
    """Return the one byte form of gold texts: one JSON object a line in the order of the hashes."""
    lines = [
        json.dumps({"text": texts[key], "text_hash": key}, ensure_ascii=False, sort_keys=True) for key in sorted(texts)
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def with_gold_hashes(item: Item, corpus: Mapping[str, Chunk]) -> Item:
    """Return the item with document and text hash of every gold chunk; what a reviewer recorded stays as it is."""
    recorded = {chunk.chunk_id: chunk for chunk in item.gold_chunks}
    gold = tuple(_gold_chunk(id_, recorded.get(id_), corpus.get(id_)) for id_ in item.gold_chunk_ids)
    known = tuple(chunk for chunk in gold if chunk.text_hash or chunk.doc_id)
    return item if known == item.gold_chunks else item.model_copy(update={"gold_chunks": known})


def _gold_chunk(chunk_id: str, recorded: GoldChunk | None, chunk: Chunk | None) -> GoldChunk:
    if recorded is not None and recorded.text_hash:
        return recorded
    if chunk is not None:
        return GoldChunk(chunk_id=chunk_id, doc_id=chunk.doc_id, text_hash=chunk_text_hash(chunk.text))
    return recorded or GoldChunk(chunk_id=chunk_id)


def texts_of(items: Iterable[Item], corpus: Mapping[str, Chunk], known: Mapping[str, str]) -> dict[str, str]:
    """Return the known texts and those of the items' gold chunks that stand in the corpus as they were labelled."""
    texts = dict(known)
    for item in items:
        for gold in item.gold_chunks:
            chunk = corpus.get(gold.chunk_id)
            if chunk is not None and gold.text_hash not in texts and chunk_text_hash(chunk.text) == gold.text_hash:
                texts[gold.text_hash] = chunk.text
    return texts


def texts_by_chunk_id(items: Iterable[Item], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each gold chunk by its id, where the text is known."""
    return {
        gold.chunk_id: texts[gold.text_hash] for item in items for gold in item.gold_chunks if gold.text_hash in texts
    }
