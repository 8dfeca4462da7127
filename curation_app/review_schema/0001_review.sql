-- What people review and what they decided. Decisions are appended; only drafts and claims are ever updated.
CREATE SEQUENCE event_seq;

-- Small columns that lists filter and sort on. The session with its large texts stands apart, so no list reads it.
CREATE TABLE candidates (
    candidate_id          VARCHAR PRIMARY KEY,
    interaction_id        VARCHAR NOT NULL,
    source                VARCHAR NOT NULL,      -- the log it came from
    case_source           VARCHAR NOT NULL,      -- production, support or synthetic
    question              VARCHAR NOT NULL,      -- at most 300 characters
    signals               VARCHAR[] NOT NULL,
    suggested_mode        VARCHAR,
    priority              DOUBLE NOT NULL,
    sampling_signal       VARCHAR NOT NULL,
    group_id              VARCHAR,
    group_size            INTEGER NOT NULL,
    known_item_id         VARCHAR,
    language              VARCHAR,
    model                 VARCHAR,
    prompt_version        VARCHAR,
    asked_at              TIMESTAMPTZ,
    double_label_draw     DOUBLE NOT NULL,       -- in [0, 1): below the configured share, two people label it
    batch                 VARCHAR,
    added_at              TIMESTAMPTZ NOT NULL
);

CREATE TABLE candidate_sessions (
    candidate_id VARCHAR PRIMARY KEY,
    body         VARCHAR NOT NULL                -- JSON of ingest.candidates.Candidate
);

CREATE TABLE label_events (
    seq          BIGINT NOT NULL DEFAULT nextval('event_seq'),
    token        VARCHAR PRIMARY KEY,            -- of the screen a decision was made on: a replayed press adds nothing
    candidate_id VARCHAR NOT NULL,
    reviewer     VARCHAR NOT NULL,
    author_kind  VARCHAR NOT NULL,               -- human, model or rule
    kind         VARCHAR NOT NULL,               -- label, not_failure, defer, skip, adjudicate or undo
    mode         VARCHAR,
    sub_code     VARCHAR,
    gold_key     VARCHAR NOT NULL DEFAULT '',    -- sorted gold chunk ids, to compare two readers
    undoes       VARCHAR,                        -- token of the event that an undo takes back
    body         VARCHAR NOT NULL,               -- JSON of curation_app.labels.LabelContent
    created_at   TIMESTAMPTZ NOT NULL
);

-- One row a field, so that two fields written at once never overwrite each other.
CREATE TABLE drafts (
    candidate_id VARCHAR NOT NULL,
    reviewer     VARCHAR NOT NULL,
    field        VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,               -- JSON
    saved_at     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (candidate_id, reviewer, field)
);

CREATE TABLE claims (
    candidate_id VARCHAR PRIMARY KEY,
    reviewer     VARCHAR NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL
);

-- Sub-codes that were merged into another: read through this, so that events stay as they were written.
CREATE TABLE sub_code_renames (
    seq        BIGINT NOT NULL DEFAULT nextval('event_seq'),
    mode       VARCHAR NOT NULL,
    old_code   VARCHAR NOT NULL,
    new_code   VARCHAR NOT NULL,
    candidate_ids VARCHAR[],                     -- NULL: all of them; else a split that moves only these
    reviewer   VARCHAR NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

CREATE VIEW effective_events AS
SELECT * FROM label_events AS e
WHERE e.kind <> 'undo' AND NOT EXISTS (SELECT 1 FROM label_events AS u WHERE u.undoes = e.token);

-- The latest word of each reader on each candidate.
CREATE VIEW current_decisions AS
SELECT * FROM effective_events
WHERE kind <> 'adjudicate'
QUALIFY row_number() OVER (PARTITION BY candidate_id, reviewer ORDER BY seq DESC) = 1;

CREATE VIEW current_adjudications AS
SELECT * FROM effective_events
WHERE kind = 'adjudicate'
QUALIFY row_number() OVER (PARTITION BY candidate_id ORDER BY seq DESC) = 1;

-- What human readers have said so far; `verdicts` above 1 means that they disagree.
CREATE VIEW readings AS
SELECT
    candidate_id,
    count(*)                                                        AS readers,
    count(DISTINCT (kind, coalesce(mode, ''), CASE WHEN kind = 'label' THEN gold_key ELSE '' END)) AS verdicts,
    arg_min(kind, seq)                                              AS kind,
    arg_min(mode, seq)                                              AS mode,
    arg_min(reviewer, seq)                                          AS reviewer,
    max(created_at)                                                 AS last_at
FROM current_decisions
WHERE author_kind = 'human' AND kind IN ('label', 'not_failure')
GROUP BY candidate_id;
