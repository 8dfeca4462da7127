"""Pieces of the screens: safe text, the session, chunk cards, the key listener."""
