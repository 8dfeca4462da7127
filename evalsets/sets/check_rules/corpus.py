"""Rules that hold the items against the corpus."""

from collections.abc import Iterator

from evalsets.chunks import chunk_text_hash
from evalsets.items import Item
from evalsets.sets.check_rules.finding import Context, Finding, error, warning
from evalsets.words import phrase_in, token_text


def gold_in_corpus(context: Context) -> Iterator[Finding]:
    """Find gold chunks that the corpus does not hold, or holds with another text."""
    if context.corpus is None:
        return
    for item in context.eval_set.items:
        recorded = {gold.chunk_id: gold.text_hash for gold in item.gold_chunks}
        for chunk_id in item.gold_chunk_ids:
            chunk = context.corpus.get(chunk_id)
            if chunk is None:
                yield error("gold-not-in-corpus", f"the gold chunk {chunk_id!r} is not in the corpus", item.id)
            elif recorded.get(chunk_id) and recorded[chunk_id] != chunk_text_hash(chunk.text):
                yield warning(
                    "gold-text-changed",
                    f"the text of {chunk_id!r} is not the one it was labelled with; see `errata drift`",
                    item.id,
                )


def facts_in_gold(context: Context) -> Iterator[Finding]:
    """Find facts that no gold chunk contains, where all gold texts are known."""
    folded: dict[tuple[str, ...], str] = {}
    for item in context.eval_set.items:
        texts = _gold_texts(context, item)
        if texts is None or not item.answer_facts:
            continue
        key = tuple(gold.text_hash for gold in item.gold_chunks)
        padded = folded[key] if key in folded else folded.setdefault(key, token_text("\n".join(texts)))
        for fact in item.answer_facts:
            if not any(phrase_in(padded, alternative) for alternative in fact):
                yield warning("fact-not-in-gold", f"no gold chunk contains the fact {' | '.join(fact)!r}", item.id)


def _gold_texts(context: Context, item: Item) -> list[str] | None:
    texts = []
    for gold in item.gold_chunks:
        chunk = (context.corpus or {}).get(gold.chunk_id)
        text = context.texts.get(gold.text_hash, chunk.text if chunk else None)
        if text is None:
            return None
        texts.append(text)
    return texts if texts and len(texts) == len(item.gold_chunk_ids) else None


def recorded_hashes(context: Context) -> Iterator[Finding]:
    """Find gold without a text hash, which no drift check can follow."""
    bare = [item.id for item in context.eval_set.items if _lacks_hash(item)]
    if bare and context.eval_set.version:
        shown = ", ".join(bare[:3]) + (" and others" if len(bare) > len(bare[:3]) else "")
        yield warning(
            "gold-without-hash", f"{len(bare)} item(s) record no text of their gold ({shown}); freeze with a corpus"
        )


def _lacks_hash(item: Item) -> bool:
    hashed = {gold.chunk_id for gold in item.gold_chunks if gold.text_hash}
    return not hashed.issuperset(item.gold_chunk_ids)


CORPUS_RULES = (gold_in_corpus, facts_in_gold, recorded_hashes)
