-- A person voted the answer down, whatever the scale of the log; a comment is quoted and counts for more.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    CASE WHEN coalesce(trim(feedback_comment), '') <> '' THEN 1.0 ELSE 0.9 END AS score,
    CASE WHEN coalesce(trim(feedback_comment), '') <> ''
        THEN concat('Voted down, with the comment “', trim(feedback_comment), '”.')
        ELSE 'Voted down, without a comment.' END AS reason,
    false AS is_weak,
    '' AS evidence_id
FROM turns
WHERE feedback < 0
