-- Canonical interactions, what each retrieved, and every chunk text once.
-- The big tables carry no key index, so that memory stays flat whatever their size: one process writes at a time, in one
-- transaction that joins against what is there, and so each id stands once.
CREATE SEQUENCE ingest_seq;

CREATE TABLE interactions (
    interaction_id   VARCHAR NOT NULL USING COMPRESSION uncompressed,  -- source:native_id; unique, looked for with every group
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
    content_hash     VARCHAR NOT NULL USING COMPRESSION uncompressed,  -- hex, which packs badly; detects a change on re-ingest; feedback is not part of it
    ingest_id        BIGINT NOT NULL,          -- the ingest that last wrote this row: what incremental mining reads
    version_ns       BIGINT NOT NULL DEFAULT 0, -- of two states of an interaction the newest stays
    cautions         VARCHAR                   -- what a reader must know, such as evicted span attributes; one a line
);

CREATE TABLE retrieved (
    interaction_id VARCHAR NOT NULL,
    rank           INTEGER NOT NULL,
    chunk_id       VARCHAR NOT NULL,
    doc_id         VARCHAR,
    text_hash      VARCHAR,                    -- of the text as logged; NULL when the log holds no text
    score          DOUBLE,
    stage          VARCHAR,
    id_origin      VARCHAR
);

CREATE TABLE chunk_texts (
    text_hash VARCHAR NOT NULL,                -- unique
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
