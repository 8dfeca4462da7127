"""Replaces personal data and secrets by typed placeholders, and user ids by salted hashes, before storage."""

import hashlib
import hmac
import os
import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from evalsets.errors import BadInputError
from ingest.adapters.base import Reject, Span
from ingest.privacy_names import name_finder
from ingest.privacy_patterns import (
    DECIMAL,
    DIALLED,
    FINDER,
    HINT,
    HINT_PATTERN,
    ID_KEY,
    LEAST_DIGITS,
    follows_account_word,
    is_card,
    is_iban,
    is_ip,
    is_phone,
)
from ingest.settings import PrivacySettings
from ingest.spans.privacy import redacted_spans
from ingest.staging import StagedRows, as_json

SALT_NAME = "salt"
_SALT_BYTES = 32
_LONGEST_REJECT = 1 << 17
"""More than the store keeps of a quarantined record; a whole document may be one, and is not looked through."""
_KEPT_USER = re.compile(r"\[USER_([0-9a-f]{16})\]")


class Redactor:
    """Redacts texts; the same value always gets the same placeholder, so a session stays readable."""

    def __init__(self, settings: PrivacySettings, salt: bytes) -> None:
        """Take the settings and the workspace's salt; raises BadInputError for a pattern that does not compile."""
        self.settings = settings
        self.salt = salt
        self.counts: Counter[str] = Counter()
        self.custom = _custom_pattern(settings.patterns)
        self.hash_user: Callable[[str], str] = lru_cache(maxsize=100_000)(self._hash_user)
        self._names = name_finder(settings.language_model) if settings.redact and settings.names else None

    def text(self, written: str) -> str:
        """Return one text with every find replaced."""
        if not self.settings.redact:
            return written
        if HINT.search(written):
            written = self._without_finds(written)
        if self.custom is not None:
            written = self.custom.sub(self._custom_replacement, written)
        if self._names is not None:
            written = self._without_names(written)
        return written

    def column(self, values: Sequence[str | None]) -> list[str | None]:
        """Redact a column of texts."""
        if not self.settings.redact:
            return list(values)
        if self.walks_all:
            return [value and self.text(value) for value in values]
        out = list(values)
        for row in _hinted(values):
            out[row] = self._without_finds(values[row] or "")
        return out

    def array(self, values: Any) -> Any:
        """Redact an Arrow array of texts."""
        return self._rewritten(values, self.text if self.walks_all else self._without_finds)

    def json_array(self, values: Any) -> Any:
        """Redact an Arrow array of JSON texts."""
        return self._rewritten(values, self.json)

    def _rewritten(self, values: Any, rewrite: Callable[[str], str]) -> Any:
        if not self.settings.redact:
            return values
        if self.walks_all:
            return pa.array([value and rewrite(value) for value in values.to_pylist()], pa.string())
        mask = _hints(values)
        hinted = values.filter(mask).to_pylist()
        return pc.replace_with_mask(values, mask, pa.array(list(map(rewrite, hinted)), pa.string()))

    def rows(self, rows: StagedRows) -> StagedRows:
        """Redact staged rows in place: every text field, chunk texts, comments, span payloads, quarantined text."""
        columns = rows.columns
        columns["user_id"] = [user and self.hash_user(user) for user in columns["user_id"]]
        if self.settings.redact:
            for name in ("question", "answer", "error"):
                columns[name] = self.column(columns[name])
            columns["session_id"] = self._sessions(columns["session_id"])
            columns["metadata"] = self._json_column(columns["metadata"])
            rows.texts = dict(zip(rows.texts, self.column(list(rows.texts.values())), strict=True))  # type: ignore[arg-type]
        rows.votes = [self._vote(vote) for vote in rows.votes]
        done = rows.spans_redacted
        rows.spans[done:] = self.spans(rows.spans[done:])
        rows.spans_redacted = len(rows.spans)
        rows.rejects = [self._reject(reject) for reject in rows.rejects]
        rows.redactions.update(self.counts)
        self.counts.clear()
        return rows

    def _reject(self, reject: Reject) -> Reject:
        raw, reason, user = reject.raw[:_LONGEST_REJECT], reject.reason, reject.user_id
        if user:
            stand_in = f"[USER_{self.hash_user(user)}]"
            raw, reason = (_whole_word(user).sub(stand_in, text) for text in (raw, reason))
        return reject._replace(raw=self.text(raw), reason=self.text(reason), user_id=None)

    def _json_column(self, values: list[str | None]) -> list[str | None]:
        if self.walks_all:
            return [written and self.json(written) for written in values]
        out = list(values)
        for row in _hinted(values):
            out[row] = self.json(values[row] or "")
        return out

    def json(self, written: str) -> str:
        """Redact the string values of a JSON text, but no ids and times."""
        if not self.settings.redact or not (HINT.search(written) or self.custom or self._names):
            return written
        try:
            return as_json(self.value(orjson.loads(written)))
        except orjson.JSONDecodeError:
            return self.text(written)

    def value(self, value: Any, key: str = "", user_id: str | None = None) -> Any:
        """Redact the string leaves of a JSON value; a leaf that is the user id becomes its hash."""
        if isinstance(value, str):
            return self.leaf(value, key, user_id)
        if isinstance(value, dict):
            return {self._key(name): self.value(entry, name, user_id) for name, entry in value.items()}
        if isinstance(value, list):
            return [self.value(entry, key, user_id) for entry in value]
        return value

    def _key(self, name: Any) -> Any:
        return self.text(name) if isinstance(name, str) and HINT.search(name) else name

    def session(self, session_id: str) -> str:
        """Replace the address or telephone number that a session is called by, as bots of messengers do."""
        if "@" in session_id:
            session_id = self.text(session_id)
        return DIALLED.sub(lambda found: self._placeholder("PHONE", found[1]), session_id)

    def _sessions(self, session_ids: list[str | None]) -> list[str | None]:
        return [named and (self.session(named) if "@" in named or "+" in named else named) for named in session_ids]

    def leaf(self, value: str, key: str, user_id: str | None = None) -> str:
        """Redact a string that stands under `key`; the user id in it becomes its hash."""
        if user_id and user_id in value:
            value = value.replace(user_id, self.hash_user(user_id)) if value != user_id else self.hash_user(user_id)
        if (ID_KEY.search(key) and "@" not in value) or (DECIMAL.match(value) and value[:1] != "0"):
            return value
        if value[:1] in ("{", "[") and len(value) > 2:  # noqa: PLR2004 - an empty structure
            return self.json(value)
        return self.text(value)

    def _vote(self, vote: Any) -> Any:
        comment = vote.comment and self.text(vote.comment)
        value = self.text(vote.value) if isinstance(vote.value, str) else vote.value
        is_of_session = vote.target_kind == "session" and self.settings.redact
        target = self.session(vote.target_id) if is_of_session else vote.target_id
        return vote._replace(comment=comment, value=value, target_id=target)

    @property
    def is_off(self) -> bool:
        """Whether texts stay as they are."""
        return not self.settings.redact

    @property
    def walks_all(self) -> bool:
        """Whether no look ahead tells which texts need a closer one."""
        return self.custom is not None or self._names is not None

    def hinted(self, texts: Sequence[str | None]) -> list[int]:
        """Return the places of the texts that need a closer look."""
        return _hinted(texts)

    def hints(self, texts: Any) -> Any:
        """Return which texts of an Arrow array need a closer look."""
        return _hints(texts)

    def spans(self, spans: Sequence[Span]) -> list[Span]:
        """Redact payloads and hash user ids."""
        return redacted_spans(self, spans)

    def _hash_user(self, user: str) -> str:
        if kept := _KEPT_USER.fullmatch(user):  # a quarantined record that is taken again
            return kept[1]
        return hashlib.blake2b(user.encode("utf-8", "replace"), digest_size=8, key=self.salt).hexdigest()

    def _without_finds(self, written: str) -> str:
        return FINDER.sub(self._replacement, written)

    def _replacement(self, match: re.Match[str]) -> str:
        found = match[0]
        if (assigned := match["assigned"]) is not None:
            return found.replace(assigned, self._placeholder("SECRET", assigned))
        kind = match.lastgroup or ""
        if kind == "email":
            return self._placeholder("EMAIL", found.lower())
        if kind == "secret":
            return self._placeholder("SECRET", found)
        if kind == "iban":
            return self._placeholder("ACCOUNT", found.replace(" ", "")) if is_iban(found) else found
        if kind == "ip":
            around = match.string[max(0, match.start() - 20) : match.start()], match.string[match.end() :][:20]
            return self._placeholder("IP", found) if is_ip(found, *around) else found
        return self._digits(match, found)

    def _digits(self, match: re.Match[str], found: str) -> str:
        digits = re.sub(r"\D", "", found)
        before = match.string[max(0, match.start() - 40) : match.start()]
        if DECIMAL.match(found) and "." in found:
            return found
        if is_card(found, digits):
            return self._placeholder("CARD", digits)
        if follows_account_word(before) and len(digits) >= LEAST_DIGITS - 1:
            return self._placeholder("ACCOUNT", digits)
        if is_phone(found, digits, before):
            return self._placeholder("PHONE", digits)
        return found

    def _custom_replacement(self, match: re.Match[str]) -> str:
        return self._placeholder(match.lastgroup or "CUSTOM", match[0])

    def _placeholder(self, kind: str, value: str) -> str:
        self.counts[kind.lower()] += 1
        digest = hmac.new(self.salt, f"{kind}:{value}".encode("utf-8", "replace"), "sha256").hexdigest()
        return f"[{kind}_{digest[:8]}]"

    def _without_names(self, written: str) -> str:
        for found in reversed(self._names(written) if self._names else []):
            value = written[found.start : found.end]
            written = written[: found.start] + self._placeholder(found.kind, value) + written[found.end :]
        return written


def _whole_word(written: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)")


def _custom_pattern(patterns: dict[str, str]) -> re.Pattern[str] | None:
    parts = []
    for name, written in patterns.items():
        group = re.sub(r"\W", "_", name).upper()
        try:
            re.compile(written)
            parts.append(f"(?P<{group}>{written})")
        except re.error as error:
            raise BadInputError(f"privacy.patterns.{name} = {written!r} is no regular expression: {error}") from error
    return re.compile("|".join(parts)) if parts else None


def _hinted(values: Sequence[str | None]) -> list[int]:
    """Return the rows worth a closer look; RE2 looks through a column about 30 times faster than `re`."""
    try:
        mask = _hints(pa.array(values, pa.string()))
    except (pa.ArrowException, UnicodeEncodeError):
        return [row for row, value in enumerate(values) if value is not None]
    return pc.indices_nonzero(mask).to_pylist()  # type: ignore[no-any-return]


def _hints(values: Any) -> Any:
    return pc.fill_null(pc.match_substring_regex(values, HINT_PATTERN), fill_value=False)


def workspace_salt(folder: Path) -> bytes:
    """Return the salt of the workspace whose state is in `folder`, made at first use and readable by its owner only."""
    place = folder / SALT_NAME
    try:
        return bytes.fromhex(place.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        pass
    except ValueError as error:
        raise BadInputError(f"{place} is damaged. Restore it from a backup: hashed ids depend on it.") from error
    folder.mkdir(parents=True, exist_ok=True)
    fresh = secrets.token_hex(_SALT_BYTES)
    temporary = folder / f".{SALT_NAME}-{secrets.token_hex(4)}"
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
        stream.write(fresh)
    try:
        os.link(temporary, place)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    return bytes.fromhex(place.read_text(encoding="ascii").strip())
