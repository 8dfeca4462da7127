"""Eval sets as files: checks, diff, freeze, runner, metrics, judges, statistics and gate."""
