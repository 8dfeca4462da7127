-- What mining found, narrow: `line` is the number of an interaction, and what a signal says of it is kept for the queue
-- alone. All of it can be mined again, and is, by the next run.
DROP TABLE mined_hits;
DROP TABLE mined_late_hits;
DROP TABLE mined_needs;
DROP TABLE mined_controls;
DROP TABLE mined_open;
DROP TABLE mined_ranks;
DROP TABLE mined_shown;
DELETE FROM mining_state;

CREATE TABLE mined_hits (
    line    BIGINT NOT NULL,
    signal  VARCHAR NOT NULL,
    score   DOUBLE NOT NULL,
    is_weak BOOLEAN NOT NULL
);

-- Questions that failed, folded, so that the same need of many users is seen whenever they asked.
CREATE TABLE mined_needs (
    line  BIGINT NOT NULL,
    need  UBIGINT NOT NULL,                    -- a hash of source and words
    asker UBIGINT                              -- a hash of source and user
);

-- Unflagged interactions drawn as a control, each with its chance of being drawn.
CREATE TABLE mined_controls (
    line           BIGINT NOT NULL,
    interaction_id VARCHAR NOT NULL,
    source         VARCHAR NOT NULL,
    session_key    VARCHAR NOT NULL,
    probability    DOUBLE NOT NULL
);

-- Sessions that were still open: they may be abandoned once the log goes on.
CREATE TABLE mined_open (
    line BIGINT NOT NULL
);

-- One row for each flagged interaction: how high it stands in the queue.
CREATE TABLE mined_ranks (
    line            BIGINT NOT NULL,
    session         UBIGINT NOT NULL,          -- a hash of source and session
    lot             VARCHAR NOT NULL,          -- what a part is drawn by
    raised          DOUBLE,                    -- by weighted signals, in [0, 1]; NULL when none has a weight
    sampling_signal VARCHAR
);

-- What is said of the interactions of the queue, and the sessions around them.
CREATE TABLE mined_said (
    line           BIGINT NOT NULL,
    interaction_id VARCHAR NOT NULL,
    source         VARCHAR NOT NULL,
    session_key    VARCHAR NOT NULL,           -- the session id, or one made from user and idle gap
    signal         VARCHAR NOT NULL,
    kind           VARCHAR NOT NULL,
    score          DOUBLE NOT NULL,
    reason         VARCHAR NOT NULL,
    is_weak        BOOLEAN NOT NULL,
    evidence_id    VARCHAR NOT NULL
);
CREATE TABLE mined_shown (
    line    BIGINT NOT NULL,
    user_id VARCHAR NOT NULL,
    turns   VARCHAR NOT NULL USING COMPRESSION uncompressed  -- JSON, read whole and written anew often
);
