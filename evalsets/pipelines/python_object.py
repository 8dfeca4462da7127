"""A pipeline in Python: `module:attr`, an object, a class or factory of one, or one `ask` function."""

import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from evalsets.errors import BadInputError
from evalsets.items import Item
from evalsets.pipelines.base import Pipeline, Retrieved
from evalsets.pipelines.faults import described
from evalsets.pipelines.native_forms import natives_of, to_answer, to_asked, to_retrieved


class PythonPipeline(Pipeline):
    """Calls user code; sync and async methods both, chunks handed to `answer` in the form `retrieve` gave them."""

    kind: ClassVar[str] = "python"

    def __init__(
        self,
        target: Any,
        *,
        name: str = "",
        target_path: str = "",
        options: Mapping[str, Any] | None = None,
        version: str = "",
    ) -> None:
        """Take the object itself, or build it from a class or factory with `options`.

        `target_path` and `version` go into the fingerprint: name a version when the code behind a path has changed.
        """
        self._options = dict(options or {})
        self._target = _built(target, self._options, name)
        self._version = version or str(getattr(self._target, "version", "") or "")
        self._path = target_path or _path_of(target)
        self.name = name or type(self._target).__qualname__
        if asks(self._target):
            self.steps = ("ask",)
            self._ask = self._target if not hasattr(self._target, "ask") else self._target.ask
            self._ask_takes_k = _takes(self._ask, 2)
        else:
            self._retrieve = self._target.retrieve
            self._retrieve_takes_k = _takes(self._retrieve, 2)
            self._answer = self._target.answer
        self._bind()

    def settings(self) -> dict[str, Any]:
        """Return the name, the options it was built with, and its version."""
        return {"target": self._path, "options": self._options, "version": self._version}

    def _bind(self) -> None:
        """Make each step async exactly when the user's own is, which is how the runner tells them apart."""
        if self.steps == ("ask",):
            self._set("ask", is_async(self._ask), self._ask_call, to_asked)
            return
        self._set("retrieve", is_async(self._retrieve), self._retrieve_call, to_retrieved)
        self._set("answer", is_async(self._answer), self._answer_call, to_answer)

    def _set(self, step: str, awaits: bool, call: Callable[..., Any], shape: Callable[[Any], Any]) -> None:  # noqa: FBT001 - private, two lines above
        async def awaited(item: Item, given: Any) -> Any:
            return shape(await call(item, given))

        def plain(item: Item, given: Any) -> Any:
            value = call(item, given)
            return value if inspect.isawaitable(value) else shape(value)

        setattr(self, step, awaited if awaits else plain)

    def _retrieve_call(self, item: Item, k: int) -> Any:
        return self._retrieve(item.question, k) if self._retrieve_takes_k else self._retrieve(item.question)

    def _answer_call(self, item: Item, retrieved: Retrieved) -> Any:
        return self._answer(item.question, natives_of(retrieved))

    def _ask_call(self, item: Item, k: int) -> Any:
        return self._ask(item.question, k) if self._ask_takes_k else self._ask(item.question)

    async def close(self) -> None:
        """Call the object's own `aclose` or `close`, when it has one."""
        for name in ("aclose", "close"):
            method = getattr(self._target, name, None)
            if callable(method):
                result = method()
                if inspect.isawaitable(result):
                    await result
                return


def load_target(path: str, *, folder: Path | None = None) -> Any:
    """Import `module:attr` with the current folder and `folder` importable; errors say which part is missing."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise BadInputError(f"pipeline {path!r} is not of the form module:attr, such as my_app.rag:pipeline")
    for place in (Path(), folder or Path()):
        if (importable := str(place.resolve())) not in sys.path:
            sys.path.insert(0, importable)
    target = _imported(module_name, path)
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise BadInputError(f"pipeline {path!r}: {module_name} has no {attribute!r}; it has {_public(target)}")
        target = getattr(target, part)
    return target


def _imported(module_name: str, path: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        raise BadInputError(
            f"cannot import the pipeline {path!r}: no module {error.name!r}. Run from the folder that holds it, "
            "or install it into this environment."
        ) from error
    except Exception as error:
        raise BadInputError(f"cannot import the pipeline {path!r}: {described(error)}") from error


def asks(target: Any) -> bool:
    """Return whether a built object answers by one call rather than by retrieve and answer."""
    return not (hasattr(target, "retrieve") and hasattr(target, "answer"))


def is_async(function: Any) -> bool:
    """Return whether calling this gives an awaitable: async functions, methods, partials and async `__call__`."""
    while hasattr(function, "func") and not inspect.ismethod(function):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - asks whether __call__ is async


def _built(target: Any, options: Mapping[str, Any], name: str) -> Any:
    is_factory = inspect.isclass(target) or (
        inspect.isroutine(target) and not _takes(target, 1) and not is_async(target)
    )
    if is_factory or (inspect.isroutine(target) and options):
        target = _called(target, options, name)
    if (hasattr(target, "retrieve") and hasattr(target, "answer")) or hasattr(target, "ask") or callable(target):
        return target
    raise BadInputError(
        f"pipeline {name or target!r} has neither retrieve(question, k) and answer(question, chunks) "
        f"nor ask(question); it has {_public(target)}"
    )


def _called(factory: Any, options: Mapping[str, Any], name: str) -> Any:
    try:
        return factory(**options)
    except Exception as error:
        raise BadInputError(f"pipeline {name or factory!r} could not be built: {described(error)}") from error


def _takes(function: Any, positional: int) -> bool:
    """Return whether a callable can be called with this many positional arguments."""
    try:
        inspect.signature(function).bind(*range(positional))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _path_of(target: Any) -> str:
    named = target if hasattr(target, "__qualname__") else type(target)
    return f"{named.__module__}:{named.__qualname__}"


def _public(target: Any) -> str:
    return ", ".join(name for name in dir(target) if not name.startswith("_")) or "no public names"
