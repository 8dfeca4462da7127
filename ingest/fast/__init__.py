"""Reads large logs of plain fields with DuckDB and Arrow, column by column."""
