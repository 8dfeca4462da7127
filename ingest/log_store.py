"""The log store: canonical interactions and corpus chunks in logs.duckdb."""
