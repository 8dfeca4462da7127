"""Each export loaded by the tool's own library in an environment of its own; slow: only with ERRATA_TEST_TOOLS=1."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden_exchange"
COUNT = 14

LINES = "[json.loads(line) for line in open({0!r}, encoding='utf-8').read().split(chr(10)) if line]"
LOADERS: dict[str, tuple[tuple[str, ...], str]] = {
    # Ragas imports a module that newer releases of the second package no longer have.
    "ragas": (
        ("ragas", "langchain-community<0.4"),
        """
from ragas import EvaluationDataset
found = [[s.user_input, s.reference] for s in EvaluationDataset.from_jsonl('ragas.jsonl').samples]
""",
    ),
    "deepeval": (
        ("deepeval",),
        """
from deepeval.dataset import EvaluationDataset
data = EvaluationDataset()
data.add_goldens_from_json_file(file_path='goldens.json')
found = [[g.input, g.expected_output] for g in data.goldens]
""",
    ),
    "inspect": (
        ("inspect-ai",),
        """
from inspect_ai.dataset import json_dataset
found = [[s.input, s.target] for s in json_dataset('samples.jsonl')]
""",
    ),
    "huggingface": (
        ("datasets",),
        """
import os
from datasets import load_dataset
found = [[row['question'], row['expected']] for row in load_dataset(os.getcwd())['dev']]
""",
    ),
    "langsmith": (
        ("langsmith",),
        f"""
from langsmith.schemas import ExampleCreate
made = [ExampleCreate(**row) for row in {LINES.format("examples.jsonl")}]
found = [[e.inputs['question'], e.outputs['answer']] for e in made]
""",
    ),
    # The library speaks in snake case and the service in camel case; the export is what the service takes.
    "langfuse": (
        ("langfuse",),
        f"""
from langfuse.api import CreateDatasetItemRequest
names = {{'datasetName': 'dataset_name', 'expectedOutput': 'expected_output'}}
rows = [{{names.get(key, key): value for key, value in row.items()}} for row in {LINES.format("dataset-items.jsonl")}]
made = [CreateDatasetItemRequest(**row) for row in rows]
found = [[i.input['question'], i.expected_output['answer']] for i in made]
""",
    ),
    "mlflow": (
        ("mlflow",),
        """
import mlflow
mlflow.set_tracking_uri('sqlite:///mlflow.db')
from mlflow.genai.datasets import create_dataset
dataset = create_dataset(name='hard')
dataset.merge_records(json.load(open('mlflow-records.json', encoding='utf-8')))
rows = dataset.to_df().to_dict('records')
found = [[row['inputs']['question'], (row['expectations'] or {}).get('expected_response', '')] for row in rows]
""",
    ),
    # The client sends what it is given; what it would post must be what the file holds.
    "phoenix": (
        ("arize-phoenix-client",),
        """
import httpx
from phoenix.client import Client
document = json.load(open('phoenix-dataset.json', encoding='utf-8'))
sent = {}
def keep(request):
    sent.update(json.loads(request.content))
    return httpx.Response(500)
client = Client(http_client=httpx.Client(transport=httpx.MockTransport(keep), base_url='http://localhost'))
try:
    client.datasets.create_dataset(**{key: document[key] for key in ('name', 'inputs', 'outputs', 'metadata')})
except Exception:
    pass
assert all(sent[key] == document[key] for key in ('name', 'inputs', 'outputs', 'metadata'))
found = [[i['question'], o['answer']] for i, o in zip(sent['inputs'], sent['outputs'])]
""",
    ),
    "qrels": (
        ("ir-measures",),
        """
import ir_measures
found = sorted({(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels('qrels.txt')})
""",
    ),
    "csv": (
        ("pandas",),
        """
import pandas
data = pandas.read_csv('set.csv', dtype=str, keep_default_na=False)
found = [[q, e] for q, e in zip(data['question'], data['expected'])]
""",
    ),
}


@pytest.mark.skipif(not os.environ.get("ERRATA_TEST_TOOLS"), reason="set ERRATA_TEST_TOOLS=1 to load with the tools")
@pytest.mark.parametrize("name", LOADERS)
def test_the_tools_own_library_loads_the_export(name: str, tmp_path: Path) -> None:
    if shutil.which("uv") is None:
        pytest.skip("needs uv")
    packages, loading = LOADERS[name]
    folder = tmp_path / name
    shutil.copytree(GOLDEN / name, folder)
    code = f"import json\n{loading}\nprint(chr(10) + json.dumps(found, default=str))"
    wanted = [word for package in packages for word in ("--with", package)]
    command = ["uv", "run", "--no-project", "--isolated", "--python", "3.11", *wanted, "python", "-c", code]
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | quiet)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().split("\n")[-1])
    assert len(found) == COUNT
    if name != "qrels":
        assert "三十天" in {expected for _, expected in found}
