"""A judge from settings: the offline facts judge, a language model, or a Python object."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from evalsets.errors import BadInputError
from evalsets.judges.base import FactsJudge, Judge
from evalsets.settings import JudgeSettings

KINDS = ("facts", "model", "ragas", "python")


def make_judge(
    settings: JudgeSettings,
    *,
    root: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Judge:
    """Return the judge that the settings describe; relative paths are read from `root`.

    Raises BadInputError naming the setting that is wrong.
    """
    if settings.kind == "facts":
        return FactsJudge()
    if settings.kind == "model":
        return _model_judge(settings, root or Path.cwd(), os.environ if environment is None else environment)
    if settings.kind == "ragas":
        return _ragas_judge(settings, os.environ if environment is None else environment)
    if settings.kind == "python":
        return _python_judge(settings.object)
    raise BadInputError(f"there is no judge {settings.kind!r}; the judges are {', '.join(KINDS)}")


def _model_judge(settings: JudgeSettings, root: Path, environment: Mapping[str, str]) -> Judge:
    from evalsets.judges.model import JudgeParameters, ModelJudge, openai_compatible, prompts_folder
    from evalsets.judges.prompting import load_prompts

    if not settings.model:
        raise BadInputError("a judge of kind 'model' needs `model` in [judge], such as model = \"openai:gpt-4.1\"")
    names = set(JudgeParameters.model_fields)
    parameters = JudgeParameters.model_validate(settings.model_dump(include=names))
    prompts = load_prompts(prompts_folder(settings.prompts, root))
    if not settings.base_url:
        return ModelJudge(settings.model, prompts=prompts, parameters=parameters)
    key = environment.get(settings.api_key_env, "") or "none"
    maker = openai_compatible(settings.model, settings.base_url, key, timeout_s=settings.timeout_s)
    return ModelJudge(maker, model_name=settings.model, prompts=prompts, parameters=parameters)


def _ragas_judge(settings: JudgeSettings, environment: Mapping[str, str]) -> Judge:
    from evalsets.judges.ragas import RagasJudge, ragas_scorers

    if not settings.model:
        raise BadInputError("a judge of kind 'ragas' needs `model` in [judge], the name its server knows it by")
    key = environment.get(settings.api_key_env, "") or "none"
    makers = ragas_scorers(settings.model, settings.base_url, key, timeout_s=settings.timeout_s)
    return RagasJudge(makers, model=settings.model)


def _python_judge(target: str) -> Judge:
    module_name, _, attribute = target.partition(":")
    if not attribute:
        raise BadInputError(
            f"a judge of kind 'python' needs `object = \"module:attribute\"` in [judge]; got {target!r}"
        )
    try:
        found = getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise BadInputError(f"the judge {target!r} cannot be loaded: {error}") from error
    judge: Judge = found() if isinstance(found, type) else found
    missing = [name for name in ("name", "fingerprint", "judge") if not hasattr(judge, name)]
    if missing:
        raise BadInputError(f"the judge {target!r} lacks {', '.join(missing)}; see evalsets.judges.base.Judge")
    return judge
