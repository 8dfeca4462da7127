"""The mapping file: which field of a log is which field of an interaction or a vote."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evalsets.errors import BadInputError, FaultsError
from ingest.adapters.mapping_paths import compile_path
from ingest.normalising import zone_named
from ingest.written_times import DateOrder

TEXT_FIELDS = ("session_id", "user_id", "question", "answer", "model", "prompt_version", "error")
NUMBER_FIELDS = ("latency_ms", "input_tokens", "output_tokens", "cost")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def _checked_path(value: object) -> object:
    if isinstance(value, str):
        try:
            compile_path(value)
        except BadInputError as error:
            raise ValueError(str(error)) from error
    return value


JmesPath = Annotated[str, BeforeValidator(_checked_path)]


def _text_keys(value: object) -> object:
    """Make text of keys that YAML read as something else; its yes and no are meant as logged words, too."""
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, meaning in value.items():
        if isinstance(key, bool):
            out |= dict.fromkeys(("true", "yes", "on") if key else ("false", "no", "off"), meaning)
        else:
            out[str(key)] = meaning
    return out


class FieldSpec(_Strict):
    """Where a field comes from: a path (written alone in the short form), its unit or zone, or a constant."""

    path: JmesPath = ""
    unit: Literal["auto", "s", "ms", "us", "ns"] = "auto"
    """Of times and durations; auto: by magnitude for times, ms for durations."""
    timezone: str = "UTC"
    """IANA zone of times that come without one."""
    date_order: DateOrder = "auto"
    """Of dates in numbers: month first (mdy) or day first (dmy); auto: as all values of the field tell."""
    const: str | float | None = None
    map: Annotated[dict[str, Any], BeforeValidator(_text_keys)] = {}
    """Value as logged (as text) and what it means; a value that is not listed means nothing."""
    start: JmesPath = ""
    end: JmesPath = ""
    """For latency_ms: the two times whose difference it is."""

    def model_post_init(self, _context: object) -> None:
        """Refuse an unknown time zone at once."""
        try:
            zone_named(self.timezone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"timezone {self.timezone!r} is not an IANA time zone") from error


def _as_field(value: object) -> object:
    return {"path": value} if isinstance(value, str) else value


FieldEntry = Annotated[FieldSpec, BeforeValidator(_as_field)]


class RowsSpec(_Strict):
    """One row a chunk: the rows of one interaction share `group_by`; `rank` orders them (default: as they come)."""

    group_by: JmesPath
    rank: JmesPath = ""


class RetrievedSpec(_Strict):
    """How retrieved chunks are logged: a `list` of objects, parallel `arrays`, or one row a chunk (`rows`)."""

    list: JmesPath = ""
    arrays: bool = False
    """The four paths below lead to parallel arrays of the record."""
    rows: RowsSpec | None = None
    chunk_id: JmesPath = ""
    doc_id: JmesPath = ""
    text: JmesPath = ""
    score: JmesPath = ""
    stage: str = "retriever"


class TurnsSpec(_Strict):
    """A record that is a whole conversation: its list of messages, paired user message with what answers it.

    Paths then read `user.…` and `assistant.…` (the two messages), `turn` (0-based), or keys of the document.
    """

    list: JmesPath
    role: JmesPath = "role"
    message_id: JmesPath = ""
    parent_id: JmesPath = ""
    """Where the id of the message stands that this one answers, for conversations that are trees."""
    user_roles: tuple[str, ...] = ("user", "human")
    assistant_roles: tuple[str, ...] = ("assistant", "ai", "bot", "model", "gpt", "chatbot", "agent")


class MessagesSpec(_Strict):
    """A record that is one message: user message and answer are paired by parent id, else by order in the session.

    Paths then read `user.…` and `assistant.…` (the two rows) and `turn`.
    """

    session: JmesPath
    role: JmesPath = "role"
    time: JmesPath = ""
    message_id: JmesPath = ""
    parent_id: JmesPath = ""
    user_roles: tuple[str, ...] = ("user", "human")
    assistant_roles: tuple[str, ...] = ("assistant", "ai", "bot", "model", "gpt", "chatbot", "agent")


class InteractionsSection(_Strict):
    """Where each field of an interaction stands."""

    where: JmesPath = ""
    """Only records for which this holds are interactions."""
    id: FieldEntry | None = None
    aliases: tuple[JmesPath, ...] = ()
    """Other ids that votes may refer to."""
    session_id: FieldEntry | None = None
    user_id: FieldEntry | None = None
    asked_at: FieldEntry | None = None
    updated_at: FieldEntry | None = None
    """When the record was last written: of two records with one id the newest stays."""
    question: FieldEntry
    answer: FieldEntry | None = None
    retrieved: RetrievedSpec | None = None
    feedback: FieldEntry | None = None
    feedback_comment: FieldEntry | None = None
    model: FieldEntry | None = None
    prompt_version: FieldEntry | None = None
    latency_ms: FieldEntry | None = None
    input_tokens: FieldEntry | None = None
    output_tokens: FieldEntry | None = None
    cost: FieldEntry | None = None
    error: FieldEntry | None = None
    stream_cut: FieldEntry | None = None
    turns: TurnsSpec | None = None
    messages: MessagesSpec | None = None
    trace: JmesPath = ""
    """Several records make one interaction: those with the same value here are merged before the paths are read."""
    metadata: Literal["rest", "none"] = "rest"
    """Whether to keep the fields that nothing maps."""

    def fields(self) -> Mapping[str, FieldSpec]:
        """Return the mapped fields by name."""
        return {name: spec for name in type(self).model_fields if isinstance(spec := getattr(self, name), FieldSpec)}


class FeedbackSection(_Strict):
    """Records that are votes on interactions."""

    where: JmesPath = ""
    files: str = ""
    """Glob of the file names that hold votes; records of other files are not looked at."""
    target: JmesPath
    kind: Literal["interaction", "session", "message"] = "interaction"
    name: FieldEntry = FieldSpec(const="feedback")
    value: FieldEntry
    comment: FieldEntry | None = None
    given_at: FieldEntry | None = Field(None, alias="at")
    id: FieldEntry | None = None
    scorer_kind: FieldEntry = FieldSpec(const="human")

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class DetectSection(_Strict):
    """How a preset is recognised: paths that must be there, and what some of them must be."""

    all: tuple[JmesPath, ...] = ()
    any: tuple[JmesPath, ...] = ()
    where: JmesPath = ""
    confidence: float = Field(0.8, gt=0, le=1)


class MappingFile(_Strict):
    """One mapping file."""

    source: str = Field(min_length=1)
    """The name that ids start with, such as support-bot."""
    description: str = ""
    format: Literal["auto", "jsonl", "json", "csv", "parquet"] = "auto"
    records: JmesPath = ""
    """Where the list of records stands in an envelope, such as data.items."""
    unwrap: str = ""
    """The key whose text holds the record, such as log for Docker."""
    detect: DetectSection | None = None
    interactions: InteractionsSection | None = None
    feedback: FeedbackSection | None = None

    def model_post_init(self, _context: object) -> None:
        """Refuse a mapping that maps nothing."""
        if self.interactions is None and self.feedback is None:
            raise ValueError("neither an interactions nor a feedback section")


def parse_mapping(written: str, origin: str) -> MappingFile:
    """Read a mapping from YAML text; every fault in it is named at once with its place. `origin` names it in errors."""
    try:
        raw = yaml.safe_load(written)
    except yaml.YAMLError as error:
        raise BadInputError(f"{origin} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise BadInputError(f"{origin} holds no mapping: it must say at least `source:` and `interactions:`.")
    try:
        return MappingFile.model_validate(raw)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {_complaint(fault)}" for fault in error.errors()]
        raise FaultsError(f"{origin} has {len(faults)} fault(s):", faults) from error


def _complaint(fault: Any) -> str:
    cause = (fault.get("ctx") or {}).get("error")
    return str(cause) if isinstance(cause, ValueError) else f"{fault['msg']} (got {fault['input']!r:.80})"


def preset_names() -> list[str]:
    """Return the names of the mappings that ship with the package."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _presets().iterdir() if entry.name.endswith(".yaml"))


def load_preset(name: str) -> MappingFile:
    """Return a shipped mapping by name."""
    entry = _presets() / f"{name}.yaml"
    return parse_mapping(entry.read_text(encoding="utf-8"), f"the preset {name!r}")


def _presets() -> Any:
    return files("ingest") / "presets"


def load_mapping(name_or_file: str, *, named: Mapping[str, Path] | None = None) -> MappingFile:
    """Return the mapping of a name (of the workspace, then of the presets) or of a file."""
    named = named or {}
    file = named.get(name_or_file, Path(name_or_file))
    if file.is_file():
        try:
            return parse_mapping(file.read_text(encoding="utf-8-sig"), str(file))
        except UnicodeDecodeError as error:
            raise BadInputError(f"{file} is not UTF-8 text: {error}. Save it as UTF-8.") from error
    if name_or_file in preset_names():
        return load_preset(name_or_file)
    known = ", ".join([*named, *preset_names()])
    raise BadInputError(
        f"no mapping is called {name_or_file!r} and no such file is there. Mappings: {known or 'none'}."
    )
