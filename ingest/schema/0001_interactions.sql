-- Canonical interactions, what each retrieved, and every chunk text once.
CREATE SEQUENCE ingest_seq;

CREATE TABLE interactions (
    interaction_id   VARCHAR PRIMARY KEY,      -- source:native_id
    source           VARCHAR NOT NULL,
    session_id       VARCHAR,
    user_id          VARCHAR,                  -- salted hash
    asked_at         TIMESTAMPTZ,
    question         VARCHAR NOT NULL,
    answer           VARCHAR,
    feedback         TINYINT,                  -- +1, -1 or NULL; the latest human vote
    feedback_comment VARCHAR,
    model            VARCHAR,
    prompt_version   VARCHAR,
    latency_ms       DOUBLE,
    input_tokens     BIGINT,
    output_tokens    BIGINT,
    cost             DOUBLE,
    error            VARCHAR,
    stream_cut       BOOLEAN NOT NULL DEFAULT FALSE,
    metadata         VARCHAR,                  -- JSON of everything unmapped
    content_hash     VARCHAR NOT NULL,         -- detects a change on re-ingest
    ingest_id        BIGINT NOT NULL           -- the batch that last wrote this row: what incremental mining reads
);

CREATE TABLE retrieved (
    interaction_id VARCHAR NOT NULL,
    rank           INTEGER NOT NULL,
    chunk_id       VARCHAR NOT NULL,
    doc_id         VARCHAR,
    text_hash      VARCHAR,                    -- NULL when the log holds no text
    score          DOUBLE,
    stage          VARCHAR,
    id_origin      VARCHAR
);

CREATE TABLE chunk_texts (
    text_hash VARCHAR PRIMARY KEY,
    text      VARCHAR NOT NULL
);

-- The chunk store that gold chunks are picked from.
CREATE TABLE corpus_chunks (
    chunk_id  VARCHAR PRIMARY KEY,
    doc_id    VARCHAR NOT NULL,
    position  INTEGER NOT NULL,                -- order within the document
    text      VARCHAR NOT NULL,
    text_hash VARCHAR NOT NULL,
    added_at  TIMESTAMPTZ NOT NULL
);
