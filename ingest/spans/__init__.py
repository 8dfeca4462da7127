"""Spans kept by trace, and put together into interactions."""
