"""The Streamlit app: its pages in the order of the work."""

import streamlit as st

PAGES = ()

st.set_page_config(page_title="Errata", layout="wide")
