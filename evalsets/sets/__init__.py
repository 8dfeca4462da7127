"""Eval sets as files in git: checking, changing, freezing, comparing and keeping them true."""
