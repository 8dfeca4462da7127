"""From a name, a path or a section of errata.toml to a pipeline."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.chunks import Chunk
from evalsets.corpus_file import read_corpus
from evalsets.errors import BadInputError
from evalsets.pipelines.base import Pipeline


class Surroundings(NamedTuple):
    """What a pipeline may be made from: the corpus, read when asked for, and the folder that paths start from."""

    corpus: Callable[[], Sequence[Chunk]]
    folder: Path = Path()


def build_pipeline(kind: str, options: Mapping[str, Any], around: Surroundings, *, name: str = "") -> Pipeline:
    """Return the pipeline of a kind with its options; errors name the option that is unknown or missing."""
    builder = _BUILDERS.get(kind)
    if builder is None:
        raise BadInputError(f"pipeline kind {kind!r} is unknown; the kinds are {', '.join(_BUILDERS)}")
    known = set(inspect.signature(builder).parameters) - {"around", "name"}
    if unknown := sorted(set(options) - known):
        raise BadInputError(
            f"a pipeline of kind {kind!r} has no option {unknown[0]!r}; its options are {', '.join(sorted(known))}"
        )
    try:
        return builder(around=around, name=name or kind, **options)
    except TypeError as error:
        raise BadInputError(f"pipeline {name or kind!r} of kind {kind!r}: {error}") from error


def pipeline_for(reference: str, sections: Mapping[str, Mapping[str, Any]], around: Surroundings) -> Pipeline:
    """Return the pipeline that a person means: a section of errata.toml, keyword, logged, module:attr or a URL."""
    if reference in sections:
        options = dict(sections[reference])
        return build_pipeline(str(options.pop("kind", "keyword")), options, around, name=reference)
    if reference in {"keyword", "logged"}:
        return build_pipeline(reference, {}, around)
    if reference.startswith(("http://", "https://")):
        return build_pipeline("http", {"url": reference}, around, name=reference)
    if reference.endswith(".jsonl"):
        return build_pipeline("recorded", {"path": reference}, around, name=Path(reference).stem)
    if ":" in reference:
        return build_pipeline("python", {"target": reference}, around, name=reference)
    known = ", ".join([*sections, "keyword", "logged"])
    raise BadInputError(
        f"there is no pipeline {reference!r}; name one of {known}, a Python object as module:attr, a URL, "
        "or a JSONL file of recorded responses"
    )


def _keyword(  # noqa: PLR0913 - the switches of the pipeline
    *,
    around: Surroundings,
    name: str,
    corpus: str = "",
    top_k: int | None = None,
    answer_sentences: int = 2,
    least_overlap: float = 0.34,
    padding: bool = False,
) -> Pipeline:
    from evalsets.pipelines.keyword import KeywordPipeline

    return KeywordPipeline(
        read_corpus(around.folder / corpus) if corpus else around.corpus(),
        name=name,
        top_k=top_k,
        answer_sentences=answer_sentences,
        least_overlap=least_overlap,
        padding=padding,
    )


def _python(
    *, around: Surroundings, name: str, target: str, options: Mapping[str, Any] | None = None, version: str = ""
) -> Pipeline:
    from evalsets.pipelines.python_object import PythonPipeline, load_target

    loaded = load_target(target, folder=around.folder)
    return PythonPipeline(loaded, name=name, target_path=target, options=options, version=version)


def _recorded(*, around: Surroundings, name: str, path: str) -> Pipeline:
    from evalsets.pipelines.recorded import RecordedPipeline

    return RecordedPipeline(around.folder / path, name=name)


def _logged(*, around: Surroundings, name: str) -> Pipeline:
    from evalsets.pipelines.logged import LoggedPipeline

    try:
        corpus = around.corpus()
    except BadInputError:
        corpus = ()
    pipeline = LoggedPipeline({chunk.chunk_id: chunk.text for chunk in corpus})
    pipeline.name = name
    return pipeline


def _http(  # noqa: PLR0913 - the options of errata.toml
    *,
    around: Surroundings,
    name: str,
    url: str,
    method: str = "POST",
    body: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    answer: str = "",
    chunks: str = "",
    cost: str = "",
    input_tokens: str = "",
    output_tokens: str = "",
    version: str = "",
) -> Pipeline:
    from evalsets.pipelines.http_endpoint import HttpPipeline, ResponsePaths

    del around
    paths = ResponsePaths(answer, chunks, cost, input_tokens, output_tokens)
    return HttpPipeline(url, name=name, method=method, body=body, headers=headers, paths=paths, version=version)


def _chat(  # noqa: PLR0913 - the options of errata.toml
    *,
    around: Surroundings,
    name: str,
    base_url: str,
    model: str,
    corpus: str = "",
    api_key: str = "${OPENAI_API_KEY}",
    prompt: str = "",
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    top_k: int | None = None,
    input_price: float | None = None,
    output_price: float | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Pipeline:
    from evalsets.pipelines.chat_endpoint import SYSTEM_PROMPT, ChatPipeline

    return ChatPipeline(
        read_corpus(around.folder / corpus) if corpus else around.corpus(),
        base_url=base_url,
        model=model,
        name=name,
        api_key=api_key,
        prompt=prompt or SYSTEM_PROMPT,
        temperature=temperature,
        max_tokens=max_tokens,
        top_k=top_k,
        input_price=input_price,
        output_price=output_price,
        parameters=parameters,
    )


_BUILDERS: dict[str, Callable[..., Pipeline]] = {
    "keyword": _keyword,
    "python": _python,
    "recorded": _recorded,
    "logged": _logged,
    "http": _http,
    "chat": _chat,
}
"""A builder a kind; its keyword arguments are the kind's options in errata.toml."""
PIPELINE_KINDS = tuple(_BUILDERS)
