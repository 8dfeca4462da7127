"""TREC: relevance judgements (qrels) beside the questions; there is no expected answer there."""

from urllib.parse import quote, unquote

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.exchange.base import ExchangeFormat, Files, Foreign, Texts

_COLUMNS = 4


def _token(text: str) -> str:
    # White space parts the columns of a qrels file, so an id is percent-encoded where it has any.
    return quote(text, safe="".join(letter for letter in text if letter not in "% \t\r\n" and letter.isprintable()))


def _write(eval_set: EvalSet, _texts: Texts) -> dict[str, bytes]:
    judged = [f"{_token(item.id)} 0 {_token(id_)} 1\n" for item in eval_set.items for id_ in item.gold_chunk_ids]
    asked = [f"{_token(item.id)}\t{' '.join(item.question.split())}\n" for item in eval_set.items]
    return {"qrels.txt": "".join(judged).encode(), "queries.tsv": "".join(asked).encode()}


def _read(files: Files) -> list[Foreign]:
    queries = next((raw for name, raw in files.items() if name.endswith(".tsv")), None)
    qrels = next((raw for name, raw in files.items() if not name.endswith(".tsv")), b"")
    if queries is None:
        raise BadInputError("qrels hold no questions; name the folder that holds qrels.txt and queries.tsv.")
    gold: dict[str, list[str]] = {}
    for number, line in enumerate(qrels.decode("utf-8-sig").split("\n"), start=1):
        columns = line.split()
        if columns and len(columns) != _COLUMNS:
            raise BadInputError(f"qrels line {number} has {len(columns)} columns, not 4: {line!r}.")
        if columns and int(columns[3]) > 0:
            gold.setdefault(unquote(columns[0]), []).append(unquote(columns[2]))
    asked = [line.split("\t", 1) for line in queries.decode("utf-8-sig").split("\n") if "\t" in line]
    return [
        Foreign(question=question, id=unquote(id_), gold_chunk_ids=gold.get(unquote(id_), ()))
        for id_, question in asked
    ]


FORMAT = ExchangeFormat(
    "qrels", "qrels.txt", "TREC qrels", "(none)", _write, _read, frozenset({"question", "gold_chunk_ids"})
)
