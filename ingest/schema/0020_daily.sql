-- Numbers by UTC day, kept up at ingest and at mining, so that the monitor never reads interactions themselves.
-- A day of NULL holds the turns without a time. Every table can be made again from the interactions.
CREATE TABLE daily_turns (
    day            DATE,
    source         VARCHAR NOT NULL,
    model          VARCHAR,
    prompt_version VARCHAR,
    interactions   BIGINT NOT NULL,
    sessions       BIGINT NOT NULL,            -- that began here
    thumbs_up      BIGINT NOT NULL,
    thumbs_down    BIGINT NOT NULL,
    errors         BIGINT NOT NULL,
    cut            BIGINT NOT NULL,
    answers        BIGINT NOT NULL,            -- with any text
    priced         BIGINT NOT NULL,            -- whose cost is known
    cost           DOUBLE NOT NULL,            -- of these
    cost_squares   DOUBLE NOT NULL             -- sum of squares, for the spread
);

CREATE TABLE daily_latency (
    day            DATE,
    source         VARCHAR NOT NULL,
    model          VARCHAR,
    prompt_version VARCHAR,
    latency_ms     DOUBLE NOT NULL,            -- rounded to three digits
    turns          BIGINT NOT NULL
);

CREATE TABLE daily_signals (
    day            DATE,
    source         VARCHAR NOT NULL,
    model          VARCHAR,
    prompt_version VARCHAR,
    signal         VARCHAR NOT NULL,
    turns          BIGINT NOT NULL             -- flagged by it
);

CREATE TABLE daily_words (
    day    DATE,
    source VARCHAR NOT NULL,
    word   VARCHAR NOT NULL,                   -- folded, of at least four letters
    turns  BIGINT NOT NULL                     -- whose question holds it
);
