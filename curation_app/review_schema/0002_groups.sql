-- A label can close the group of its candidate: each other member gets an event that names the label it follows.
DROP VIEW readings;
DROP VIEW current_adjudications;
DROP VIEW current_decisions;
DROP VIEW effective_events;

ALTER TABLE label_events ADD COLUMN follows VARCHAR;  -- token of the label that an event of kind follow stands under

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

-- Members closed with their group: no reading, and out of the queue until someone labels them or takes it back.
CREATE VIEW closed_members AS
SELECT candidate_id, arg_max(reviewer, seq) AS reviewer
FROM current_decisions WHERE kind = 'follow' GROUP BY candidate_id;
