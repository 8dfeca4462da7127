"""What pages and commands do, without Streamlit and without SQL."""
