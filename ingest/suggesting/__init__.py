"""A mapping proposed from the names and values of a log."""
