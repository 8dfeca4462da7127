-- The flagged interactions that a session has too many of for the queue. The next run of mining fills the table.
DELETE FROM mining_state;

CREATE TABLE mined_crowded (
    line    BIGINT NOT NULL,
    session UBIGINT NOT NULL
);
