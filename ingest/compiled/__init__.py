"""Inner loops that are compiled where a compiler is at hand; beside each stands a plainer way in Python."""
