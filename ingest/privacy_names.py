"""Finds the names of people and places, with presidio and a spaCy pipeline."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.errors import BadInputError


class FoundName(NamedTuple):
    """Where a name stands in a text, and whether it is a NAME or a PLACE."""

    start: int
    end: int
    kind: str


def name_finder(language_model: str) -> Callable[[str], list[FoundName]]:
    """Return what finds names and places in an English text. Raises BadInputError without presidio or its pipeline."""
    try:
        from presidio_analyzer import AnalyzerEngine
    except ImportError as error:
        raise BadInputError(
            "privacy.names needs the extra `privacy` (pip install 'errata-evals[privacy]'), or set it to false."
        ) from error
    engine = AnalyzerEngine(nlp_engine=_loaded_language_model(language_model), supported_languages=["en"])

    def find(written: str) -> list[FoundName]:
        results = engine.analyze(written, language="en", entities=["PERSON", "LOCATION"])
        return _disjoint(FoundName(r.start, r.end, "NAME" if r.entity_type == "PERSON" else "PLACE") for r in results)

    return find


def _loaded_language_model(name: str) -> Any:
    """Load a spaCy pipeline by its package or folder; a missing one is never downloaded unasked."""
    import spacy
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    if not spacy.util.is_package(name) and not Path(name).is_dir():
        raise BadInputError(
            f"privacy.names needs the spaCy pipeline {name!r}, which is neither an installed package nor a folder."
            " Install it (python -m spacy download en_core_web_sm), or name another with privacy.language_model."
        )
    models = [{"lang_code": "en", "model_name": name}]
    return NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()


def _disjoint(found: Iterable[FoundName]) -> list[FoundName]:
    kept: list[FoundName] = []
    for entry in sorted(found):
        if not kept or entry.start >= kept[-1].end:
            kept.append(entry)
    return kept
