import re
from pathlib import Path
from typing import Any

from ingest.adapters.base import Adapter, Record, Reject, Skip
from ingest.interaction import Interaction

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "adding-a-format.md"


def test_the_adapter_in_the_documentation_works_as_it_stands() -> None:
    code = re.search(r'```python\n(""".*?)```', DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    scope: dict[str, Any] = {}
    exec(code[1], scope)  # noqa: S102 - our own documentation
    adapter = scope["ADAPTER"]
    assert isinstance(adapter, Adapter)
    ticket = {"ticket_id": 7, "customer_message": "where?", "bot_answer": "there", "created_at": 1_790_000_000}
    values: list[Any] = [ticket | {"articles": [{"id": "a", "text": "t"}]}, ticket | {"customer_message": ""}, {}, 7]
    outcomes = list(adapter.read([Record("f", at, value) for at, value in enumerate(values)]))
    assert [type(outcome) for outcome in outcomes] == [Interaction, Skip, Reject, Reject]
    assert adapter.detects(values) == 0.9
