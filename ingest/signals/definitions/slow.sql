-- The answer took many times as long as is usual for the model.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    least(1.0, round(times_slower / 20.0, 3)) AS score,
    concat('Took ', cast(cast(round(times_slower) AS bigint) AS string), ' times as long as the model usually does.')
        AS reason,
    true AS is_weak,
    '' AS evidence_id
FROM turns
WHERE times_slower IS NOT NULL
