"""Metrics: one small unit each; the printed name of a unit is its identity."""
