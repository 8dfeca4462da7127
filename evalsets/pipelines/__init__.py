"""Systems under evaluation: Python objects, endpoints, recordings, production's own answers, the built-in one."""
