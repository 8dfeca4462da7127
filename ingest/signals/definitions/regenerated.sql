-- The same question was sent again within seconds, so the first answer did not do.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    0.6 AS score,
    concat('Answered again ', cast(cast(round((next_us - asked_us) / 1000000.0) AS bigint) AS string),
        ' s later, for the same question.') AS reason,
    true AS is_weak,
    next_id AS evidence_id
FROM turns
WHERE pair_kind = 'repeated' AND next_us - asked_us <= :regenerate_us
