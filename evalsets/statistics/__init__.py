"""Intervals, paired tests, agreement and weighted rates; numpy is loaded only by what resamples."""
