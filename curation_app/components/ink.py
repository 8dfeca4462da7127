"""Colours of words and lines in charts, which Streamlit's theme does not reach."""

import streamlit as st

ACCENT = "#2f7dc4"
"""At least 3:1 against the light and the dark background."""
GREY = "#6f7883"


def ink() -> str:
    """Return the colour of words in charts on the page's background."""
    return "#e8ebee" if st.context.theme.type == "dark" else "#1c2128"
