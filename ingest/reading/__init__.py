"""The file layer: bytes of any log file to records, with their places."""
