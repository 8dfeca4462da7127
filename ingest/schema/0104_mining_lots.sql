-- Lots are hex digits of a hash, which pack badly: to try took as long as all else of what a run ranks. The next run of
-- mining fills the table.
DROP TABLE mined_ranks;
DELETE FROM mining_state;

CREATE TABLE mined_ranks (
    line            BIGINT NOT NULL,
    session         UBIGINT NOT NULL USING COMPRESSION uncompressed,  -- a hash of source and session
    lot             VARCHAR NOT NULL USING COMPRESSION uncompressed,  -- what a part is drawn by
    raised          DOUBLE,                    -- by weighted signals, in [0, 1]; NULL when none has a weight
    sampling_signal VARCHAR
);
