-- When a document was last written, where the corpus says so; else the day its text last changed here stands for it.
ALTER TABLE corpus_chunks ADD COLUMN updated_at TIMESTAMPTZ;
