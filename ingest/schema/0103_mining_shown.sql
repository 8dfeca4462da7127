-- The turns a reviewer sees around the interactions of the queue: each turn and each link to a passage stands once, without
-- the texts of passages. The next run of mining fills them.
DROP TABLE IF EXISTS mined_shown;

CREATE TABLE mined_shown (
    line  BIGINT NOT NULL,                     -- of the interaction in the queue
    place BIGINT NOT NULL,                     -- of the turn in its session
    turn  BIGINT NOT NULL                      -- of the turn that is shown
);
CREATE TABLE mined_turns (
    line             BIGINT NOT NULL,
    user_id          VARCHAR,
    asked_us         BIGINT,
    interaction_id   VARCHAR NOT NULL USING COMPRESSION uncompressed,  -- what is read whole and written anew often
    question         VARCHAR NOT NULL USING COMPRESSION uncompressed,
    answer           VARCHAR NOT NULL USING COMPRESSION uncompressed,
    feedback         TINYINT,
    feedback_comment VARCHAR NOT NULL,
    model            VARCHAR NOT NULL,
    prompt_version   VARCHAR NOT NULL,
    latency_ms       DOUBLE,
    cost             DOUBLE,
    error            VARCHAR NOT NULL,
    stream_cut       BOOLEAN NOT NULL
);
CREATE TABLE mined_passages (
    line    BIGINT NOT NULL,
    rank    INTEGER NOT NULL,
    passage BIGINT NOT NULL,
    score   DOUBLE
);
