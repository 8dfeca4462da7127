"""Files in layouts nobody has shown us hold the same records, and every record in them is accounted for."""

import json
from pathlib import Path

from ingest.adapters.mapping_file import MappingFile
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.test_ingest import turn


def test_every_bad_record_of_a_one_line_array_is_counted(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps([turn(number, ts="never" if number < 5 else 1) for number in range(8)]))
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert (report.read, report.made, report.quarantined, report.interactions.new) == (8, 3, 5, 3)
