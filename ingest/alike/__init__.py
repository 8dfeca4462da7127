"""Reads OTLP lines whose spans are spelled alike: found by their quotes, compared in bytes, read as columns."""
