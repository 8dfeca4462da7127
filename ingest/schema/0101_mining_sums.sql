-- What follows from the findings, kept so that a run over a little more of the log changes only what changed.
-- One row for each flagged interaction: how high it stands in the queue by what runs found in it.
CREATE TABLE mined_ranks (
    interaction_id  VARCHAR NOT NULL,
    source          VARCHAR NOT NULL,
    session_key     VARCHAR NOT NULL,
    raised          DOUBLE NOT NULL,           -- by weighted signals, in [0, 1]
    sampling_signal VARCHAR NOT NULL
);

-- How many interactions each signal flagged; under '' how many any did.
CREATE TABLE mined_counts (
    signal  VARCHAR NOT NULL,
    flagged BIGINT NOT NULL,
    weak    BIGINT NOT NULL
);

-- Hits of the signals that read what the others found.
CREATE TABLE mined_late_hits (
    interaction_id VARCHAR NOT NULL,
    source         VARCHAR NOT NULL,
    session_key    VARCHAR NOT NULL,
    signal         VARCHAR NOT NULL,
    kind           VARCHAR NOT NULL,
    score          DOUBLE NOT NULL,
    reason         VARCHAR NOT NULL,
    is_weak        BOOLEAN NOT NULL,
    evidence_id    VARCHAR NOT NULL
);

-- The sessions around the interactions of the queue, as they were read for it.
CREATE TABLE mined_shown (
    interaction_id VARCHAR NOT NULL,
    user_id        VARCHAR NOT NULL,
    turns          VARCHAR NOT NULL            -- JSON
);
