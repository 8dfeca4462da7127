"""Staged blocks on their way from one process to another."""

from typing import NamedTuple

import pyarrow as pa

from ingest.columnar import Tables, no_rows, table_bytes, table_of
from ingest.reading_jobs import StagedBlock
from ingest.spans.staging import no_traces
from ingest.staging import StagedRows

_TRACES = len(Tables._fields)
"""The place of the traces among the tables of a block: behind those staged, before those made."""


class SentBlock(NamedTuple):
    """A staged block on its way from another process."""

    tables: list[bytes]
    """Each in bytes of its own, so that it is freed when it is stored; nothing for one without rows."""
    rest: StagedRows
    digests: bytes

    @classmethod
    def of(cls, block: StagedBlock) -> "SentBlock":
        """Serialise a block."""
        tables = [*block.tables, block.traces, *(block.made or ())]
        return cls([table_bytes(table) if table.num_rows else b"" for table in tables], block.rest, block.digests)

    def received(self) -> StagedBlock:
        """Return the block that was sent."""
        nothing: list[pa.Table] = [*no_rows(), no_traces(), *no_rows()]
        found = [table_of(sent) if sent else empty for sent, empty in zip(self.tables, nothing, strict=False)]
        made = Tables(*found[_TRACES + 1 :]) if len(found) > _TRACES + 1 else None
        return StagedBlock(Tables(*found[:_TRACES]), self.rest, found[_TRACES], made, self.digests)
