-- What an ingest leaves beside interactions: votes, names of interactions, spans of traces, quarantine and its own account.
CREATE TABLE ingests (
    ingest_id   BIGINT NOT NULL,
    started_at  TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,                   -- NULL when it was cut short
    report      VARCHAR                        -- JSON
);

-- A file that was read to its end in one way: reading the same bytes the same way again has nothing to add.
CREATE TABLE ingested_files (
    file_digest VARCHAR NOT NULL,              -- of the bytes
    way_digest  VARCHAR NOT NULL,              -- of format, mapping, privacy settings and reader version
    file        VARCHAR NOT NULL,
    account     VARCHAR NOT NULL,              -- JSON
    ingest_id   BIGINT NOT NULL
);

CREATE TABLE feedback_events (
    event_key    VARCHAR NOT NULL,             -- unique; of two states of one event the later stays
    source       VARCHAR NOT NULL,
    target_kind  VARCHAR NOT NULL,             -- interaction or session
    target_id    VARCHAR NOT NULL,             -- native id
    name         VARCHAR NOT NULL,
    value_number DOUBLE,
    value_text   VARCHAR,
    scorer_kind  VARCHAR NOT NULL,             -- human, model or code
    comment      VARCHAR,
    given_at     TIMESTAMPTZ,
    ordinal      BIGINT NOT NULL,              -- order of arrival; settles votes of the same second
    vote         TINYINT,                      -- +1, -1, 0 for neither, NULL while its scale is not known
    interaction_id VARCHAR,                    -- NULL while unbound
    ingest_id    BIGINT NOT NULL
);

CREATE SEQUENCE feedback_seq;

CREATE TABLE interaction_aliases (
    source         VARCHAR NOT NULL,
    alias          VARCHAR NOT NULL,
    interaction_id VARCHAR NOT NULL
);

-- Mappings by digest, so that what was staged through one can be put together by a later ingest.
CREATE TABLE mappings (
    name    VARCHAR NOT NULL,
    mapping VARCHAR NOT NULL                   -- JSON
);

CREATE TABLE rejects (
    reject_key  VARCHAR NOT NULL,              -- of file, line and raw text; unique
    ingest_id   BIGINT NOT NULL,
    file        VARCHAR NOT NULL,
    line        BIGINT NOT NULL,
    reason      VARCHAR NOT NULL,
    raw         VARCHAR NOT NULL,              -- redacted
    format      VARCHAR NOT NULL,              -- what read it
    records     BIGINT NOT NULL DEFAULT 1,
    rejected_at TIMESTAMPTZ NOT NULL
);

-- What must stay deleted when the same log is ingested again.
CREATE TABLE forgotten (
    kind         VARCHAR NOT NULL,             -- user or before
    value        VARCHAR NOT NULL,             -- hashed user id, or a time
    forgotten_at TIMESTAMPTZ NOT NULL
);
