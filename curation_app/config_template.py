"""The commented errata.toml that `errata init` writes, made from the settings themselves so that it cannot go stale."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from itertools import pairwise

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from curation_app.workspace import Settings

WIDTH = 110

HEAD = """\
# Settings of this errata workspace. Every line is a comment showing a default; take the # away to change it.
# Logs and labels are kept in .errata/ (not in git), eval sets in evalsets/ (in git).
"""

EXAMPLES = {
    "logs.mappings": """\
# Own log formats: name = "file", relative to this folder. `errata mapping suggest LOG` proposes a file.
# support-bot = "mappings/support-bot.yaml"
""",
    "privacy.patterns": """\
# Your own secrets, each replaced by <NAME> before anything is stored: name = "regular expression".
# CUSTOMER_NUMBER = 'K-\\d{6}'
""",
    "queue.weights": """\
# Weight of a signal in [0, 1], over the defaults; 0 keeps a signal from raising anything.
# thumbs_down = 0.9
""",
    "pipelines": """\
# What `errata run --pipeline NAME` and the Scores page call. The keyword pipeline is always there.
# [pipelines.mine]
# kind = "python"                         # an object with retrieve and answer, a class or factory, or one ask(question)
# target = "my_package.rag:pipeline"
# version = "2026-11-30"                  # change it when the code behind the same name has changed
# [pipelines.service]
# kind = "http"                           # answer and chunks are found by JMESPath
# url = "https://desk.example.com/ask"
# body = { question = "{question}", top_k = "{k}" }
# answer = "data.answer"
# chunks = "data.passages"
# headers = { Authorization = "Bearer ${DESK_TOKEN}" }
# [pipelines.model]
# kind = "chat"                           # an OpenAI-compatible endpoint over the keyword search of the chunk store
# base_url = "http://127.0.0.1:8000/v1"
# model = "my-model"
# api_key = "${OPENAI_API_KEY}"
# [pipelines.recorded]
# kind = "recorded"
# path = "responses.jsonl"
""",
}
"""Written by hand for the tables whose keys the user chooses."""


def render_config_template() -> str:
    """Return the text of a fresh errata.toml: valid as it stands, every key shown with its default and meaning."""
    sections = [HEAD]
    for name, field in Settings.model_fields.items():
        sections.append(_section(name, field))
    return "\n".join(sections)


def _section(name: str, field: FieldInfo) -> str:
    if not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
        return EXAMPLES[name]
    model = field.annotation
    lines = [*_comment(inspect.getdoc(model) or ""), f"[{name}]"]
    meanings = dict(_attribute_docstrings(model))
    tables = []
    for key, entry in model.model_fields.items():
        default = entry.get_default(call_default_factory=True)
        if f"{name}.{key}" in EXAMPLES:
            tables += ["", f"[{name}.{key}]", EXAMPLES[f"{name}.{key}"].rstrip()]
            continue
        lines += _comment(meanings.get(key, ""))
        if default is None:
            lines.append("# Not set by default; for example:")
            default = _example(entry)
        lines.append(f"# {key} = {_toml_value(default)}")
    return "\n".join([*lines, *tables]) + "\n"


def _example(entry: FieldInfo) -> object:
    wanted = str(entry.annotation)
    return 1 if "int" in wanted else 0.5 if "float" in wanted else ""


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()).rstrip("."), WIDTH)]


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{key} = {_toml_value(entry)}" for key, entry in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _attribute_docstrings(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield each field's name and the string literal below it in the source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, below in pairwise(statements):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            yield field.target.id, below.value.value
