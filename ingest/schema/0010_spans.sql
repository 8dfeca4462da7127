-- Spans wait here until every file is read, so that a trace may spread over lines, files and runs.
-- They stay after assembly: a late span makes its interaction anew from all of them.
CREATE TABLE spans (
    family     VARCHAR NOT NULL,               -- adapters of one family share trace ids, so their spans meet
    trace_id   VARCHAR NOT NULL,
    span_id    VARCHAR NOT NULL,
    adapter    VARCHAR NOT NULL,
    started_ns BIGINT NOT NULL,
    version_ns BIGINT NOT NULL,                -- of two spans with one key the greater stays
    user_id    VARCHAR,                        -- salted hash
    payload    VARCHAR NOT NULL,               -- JSON, redacted
    ingest_id  BIGINT NOT NULL                 -- the batch that last wrote this row
);

-- What a run has read and not yet settled into `spans`; a run that was killed leaves rows that the next one settles.
CREATE TABLE incoming_spans (
    family     VARCHAR NOT NULL,
    trace_id   VARCHAR NOT NULL,
    span_id    VARCHAR NOT NULL,
    adapter    VARCHAR NOT NULL,
    started_ns BIGINT NOT NULL,
    version_ns BIGINT NOT NULL,
    user_id    VARCHAR,
    payload    VARCHAR NOT NULL,
    ingest_id  BIGINT NOT NULL
);

-- Traces whose spans changed and whose interaction has to be assembled (again).
CREATE TABLE unassembled_traces (
    family   VARCHAR NOT NULL,
    trace_id VARCHAR NOT NULL
);
