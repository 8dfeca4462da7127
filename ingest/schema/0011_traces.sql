-- Spans, one row a trace: they stay after assembly, so that a late span makes its interactions anew from all of them.
CREATE TABLE traces (
    family    VARCHAR NOT NULL,                -- adapters of one family share trace ids, so their spans meet
    trace_id  VARCHAR NOT NULL,                -- unique within its family
    spans     INTEGER NOT NULL,                -- how many there are
    last_ns   BIGINT NOT NULL,                 -- when the last of them began
    user_ids  VARCHAR[] NOT NULL,              -- salted hashes
    payload   VARCHAR NOT NULL,                -- JSON, redacted: [span id, adapter, start, version, user, payload] of each
    made      VARCHAR[] NOT NULL,              -- the interactions made of it
    ingest_id BIGINT NOT NULL                  -- the batch that last wrote this row
);

-- What has still to be put together: traces that did not come whole, and spans that came late. A run that was killed
-- leaves rows that the next one takes up.
CREATE TABLE trace_parts (
    family    VARCHAR NOT NULL,
    trace_id  VARCHAR NOT NULL,
    spans     INTEGER NOT NULL,
    last_ns   BIGINT NOT NULL,
    user_ids  VARCHAR[] NOT NULL,
    payload   VARCHAR NOT NULL
);

INSERT INTO trace_parts
SELECT family, trace_id, 1, started_ns, CASE WHEN user_id IS NULL THEN [] ELSE [user_id] END,
    format('[[{},{},{},{},{},{}]]', to_json(span_id)::VARCHAR, to_json(adapter)::VARCHAR, started_ns, version_ns,
        coalesce(to_json(user_id)::VARCHAR, 'null'), payload)
FROM (SELECT * FROM spans UNION ALL SELECT * FROM incoming_spans);

DROP TABLE spans;
DROP TABLE incoming_spans;
DROP TABLE unassembled_traces;
