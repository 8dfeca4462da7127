-- The answer cost many times what is usual for the model.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    least(1.0, round(times_costlier / 20.0, 3)) AS score,
    concat('Cost ', cast(cast(round(times_costlier) AS bigint) AS string), ' times what the model usually does.')
        AS reason,
    true AS is_weak,
    '' AS evidence_id
FROM turns
WHERE times_costlier IS NOT NULL
