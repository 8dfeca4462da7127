"""Streamlit pages: thin scripts over the service."""
