"""Judges: what decides whether an answer passes, and how far a judge can be trusted."""
