-- Payloads of spans are long and repeat themselves: packed where they are read, they take less room on their way and here.
-- A payload that begins with [ is JSON as it is, from before; else see ingest.trace_rows.
CREATE TABLE packed_traces (
    family    VARCHAR NOT NULL,
    trace_id  VARCHAR NOT NULL,
    spans     INTEGER NOT NULL,
    last_ns   BIGINT NOT NULL,
    user_ids  VARCHAR[] NOT NULL,
    payload   BLOB NOT NULL USING COMPRESSION uncompressed,
    made      VARCHAR[] NOT NULL,
    ingest_id BIGINT NOT NULL
);
INSERT INTO packed_traces SELECT * REPLACE (encode(payload) AS payload) FROM traces;
DROP TABLE traces;
ALTER TABLE packed_traces RENAME TO traces;
ALTER TABLE trace_parts ALTER payload TYPE BLOB USING encode(payload);
