"""Running a pipeline over a set: calls, their journal, and the report made from it."""
