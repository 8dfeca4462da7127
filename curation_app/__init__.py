"""The command line and the Streamlit pages over one service."""
