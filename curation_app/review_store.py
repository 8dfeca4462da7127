"""The review store: candidates, labels, drafts and claims in review.duckdb."""
