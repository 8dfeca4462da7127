"""From log formats to canonical interactions, mined signals and review candidates."""
