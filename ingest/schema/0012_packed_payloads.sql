-- Payloads of spans are long texts that repeat themselves: zstd takes less than half the room, and less time to write.
CREATE TABLE packed_traces (
    family    VARCHAR NOT NULL,
    trace_id  VARCHAR NOT NULL,
    spans     INTEGER NOT NULL,
    last_ns   BIGINT NOT NULL,
    user_ids  VARCHAR[] NOT NULL,
    payload   VARCHAR NOT NULL USING COMPRESSION zstd,
    made      VARCHAR[] NOT NULL,
    ingest_id BIGINT NOT NULL
);
INSERT INTO packed_traces SELECT * FROM traces;
DROP TABLE traces;
ALTER TABLE packed_traces RENAME TO traces;
