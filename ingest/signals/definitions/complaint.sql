-- The next message of the user says that the answer was wrong, missing or beside the point.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    0.9 AS score,
    concat('The next message complains: “', next_question, '”.') AS reason,
    false AS is_weak,
    next_id AS evidence_id
FROM turns
WHERE next_complains
