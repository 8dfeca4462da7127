"""A report as text, Markdown, HTML and JUnit XML."""
