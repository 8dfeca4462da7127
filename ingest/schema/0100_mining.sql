-- What mining found and how far it has read, so that it reads only what is new. All of it can be mined again.
CREATE TABLE mined_hits (
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

-- Questions that failed, folded, so that the same need of many users is seen whenever they asked.
CREATE TABLE mined_needs (
    interaction_id VARCHAR NOT NULL,
    source         VARCHAR NOT NULL,
    session_key    VARCHAR NOT NULL,
    user_id        VARCHAR,
    need           VARCHAR NOT NULL
);

-- Unflagged interactions drawn as a control, each with its chance of being drawn.
CREATE TABLE mined_controls (
    interaction_id VARCHAR NOT NULL,
    source         VARCHAR NOT NULL,
    session_key    VARCHAR NOT NULL,
    probability    DOUBLE NOT NULL
);

-- What is usual for each model, as of the last full run.
CREATE TABLE mined_baselines (
    source     VARCHAR NOT NULL,
    model      VARCHAR NOT NULL,
    latency_ms DOUBLE,
    cost       DOUBLE
);

-- Sessions that were still open: they may be abandoned once the log goes on.
CREATE TABLE mined_open (
    interaction_id VARCHAR NOT NULL
);

CREATE TABLE mining_state (
    name  VARCHAR PRIMARY KEY,
    value VARCHAR NOT NULL
);
