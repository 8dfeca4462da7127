"""A pipeline behind HTTP: a JSON template out, JMESPath to the answer and the chunks in what comes back."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from evalsets.errors import BadInputError
from evalsets.items import Item
from evalsets.pipelines.base import Answer, Asked, Pipeline
from evalsets.pipelines.faults import CallFailedError, TransientCallError, fault_of_status
from evalsets.pipelines.native_forms import ANSWER_KEYS, RETRIEVED_KEYS, to_answer, to_retrieved

DEFAULT_BODY: Mapping[str, Any] = {"question": "{question}", "k": "{k}"}
_USAGE = frozenset({"cost", "input_tokens", "output_tokens"})
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class ResponsePaths(NamedTuple):
    """JMESPath expressions into the response; an empty `answer` or `chunks` looks for the usual names."""

    answer: str = ""
    chunks: str = ""
    cost: str = ""
    input_tokens: str = ""
    output_tokens: str = ""


class HttpPipeline(Pipeline):
    """Posts a question and reads answer and chunks out of the JSON that comes back.

    In `body` the texts `{question}`, `{k}` and `{item_id}` stand for the item's; a text that is only `{k}` becomes a
    number. `${NAME}` in `headers` and `url` is taken from the environment and never written down.
    """

    kind: ClassVar[str] = "http"
    steps = ("ask",)

    def __init__(  # noqa: PLR0913 - the options of errata.toml
        self,
        url: str,
        *,
        name: str = "",
        method: str = "POST",
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        paths: ResponsePaths | None = None,
        version: str = "",
    ) -> None:
        """Take the endpoint; raises BadInputError for an expression that is no JMESPath."""
        self.name = name or url
        self._url = url
        self._method = method.upper()
        self._body = body or DEFAULT_BODY
        self._headers = dict(headers or {})
        self._version = version
        self._paths = (paths or ResponsePaths())._asdict()
        self._expressions = {key: _compiled(key, path) for key, path in self._paths.items() if path}
        self._client: Any = None

    def settings(self) -> dict[str, Any]:
        """Return the request as it is written in errata.toml: names of environment variables, not their values."""
        return {
            "url": self._url,
            "method": self._method,
            "body": self._body,
            "headers": self._headers,
            "paths": self._paths,
            "version": self._version,
        }

    async def ask(self, item: Item, k: int) -> Asked:
        """Return answer and chunks from one request."""
        found = await self._request({"question": item.question, "k": k, "item_id": item.id})
        answer = self._found("answer", found, ANSWER_KEYS)
        if answer is None:
            missing = self._looked_for("answer", ANSWER_KEYS)
            raise CallFailedError(f"{self._where} answered without {missing}", raw=_start(found))
        retrieved = self._found("chunks", found, RETRIEVED_KEYS)
        return Asked(self._with_usage(to_answer(answer), found), to_retrieved(retrieved or ()))

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    @property
    def _where(self) -> str:
        return _VARIABLE.sub("…", self._url)

    async def _request(self, values: Mapping[str, Any]) -> Any:
        import httpx

        if self._client is None:
            self._client = open_client()
        headers = {key: from_environment(value) for key, value in self._headers.items()}
        url = from_environment(self._url)
        body = filled(self._body, values)
        sent = {"params": body} if self._method == "GET" else {"json": body}
        try:
            response = await self._client.request(self._method, url, headers=headers, **sent)
        except httpx.HTTPError as error:
            what = f"{type(error).__name__}: {str(error) or 'the connection broke'}"
            raise TransientCallError(f"{self._where}: {what}") from error
        return read_json_response(response, self._where)

    def _found(self, key: str, found: Any, usual: tuple[str, ...]) -> Any:
        if key in self._expressions:
            return self._expressions[key].search(found)
        if not isinstance(found, Mapping):
            return None
        return next((found[name] for name in usual if found.get(name) is not None), None)

    def _with_usage(self, answer: Answer, found: Any) -> Answer:
        named = {key: expression for key, expression in self._expressions.items() if key in _USAGE}
        stated = {key: expression.search(found) for key, expression in named.items()}
        return answer._replace(**{key: value for key, value in stated.items() if value is not None})

    def _looked_for(self, key: str, usual: tuple[str, ...]) -> str:
        return f"a value at {self._paths[key]!r}" if self._paths.get(key) else f"any of {', '.join(usual)}"


def open_client() -> Any:
    """Return a client without limits of its own: the runner bounds each call and the number in flight."""
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
    return httpx.AsyncClient(timeout=None, limits=limits, follow_redirects=True)  # noqa: S113 - see above


def read_json_response(response: Any, where: str) -> Any:
    """Return the JSON of an HTTP response; an error status, an empty body and HTML each say so."""
    body = response.text
    if response.status_code >= 400:  # noqa: PLR2004 - the first status that is an error
        raise fault_of_status(response.status_code, where=where, headers=response.headers, body=body)
    if not body.strip():
        raise CallFailedError(f"{where} answered {response.status_code} with an empty body")
    try:
        return json.loads(body)
    except ValueError:
        kind = "HTML" if body.lstrip()[:1] == "<" else "no JSON"
        message = f"{where} answered {response.status_code} with {kind}: {body.strip()[:80]!r}"
        raise CallFailedError(message, raw=body[:2000]) from None


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return the template with `{name}` replaced; a text that is one placeholder takes the value with its type."""
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    for name, value in values.items():
        if template == f"{{{name}}}":
            return value
    return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), template)


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def from_environment(text: str) -> str:
    """Return the text with each `${NAME}` taken from the environment; a missing one is an error that names it."""
    missing = [name for name in _VARIABLE.findall(text) if name not in os.environ]
    if missing:
        raise BadInputError(f"the environment variable {missing[0]} is not set; the pipeline's settings ask for it")
    return _VARIABLE.sub(lambda match: os.environ[match[1]], text)


def _compiled(key: str, path: str) -> Any:
    import jmespath

    try:
        return jmespath.compile(path)
    except jmespath.exceptions.JMESPathError as error:
        raise BadInputError(f"the pipeline's {key} = {path!r} is no JMESPath expression: {error}") from error


def _start(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:2000]
