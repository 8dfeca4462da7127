"""The chunks that gold is picked from: read, kept and searched."""
