-- The same user soon asks the same again: restated, reworded, corrected or repeated, in this session or a new one.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    pair_kind AS kind,
    pair_score AS score,
    concat(
        CASE pair_kind
            WHEN 'restated' THEN 'Restated with the context spelled out'
            WHEN 'corrected' THEN 'Corrected by the user'
            WHEN 'repeated' THEN 'Repeated word for word'
            ELSE 'Reworded' END,
        elapsed,
        ': “', next_question, '”.'
    ) AS reason,
    false AS is_weak,
    next_id AS evidence_id
FROM (
    SELECT
        line, interaction_id, source, session_key, session, lot, pair_kind, pair_score, next_question, next_id,
        CASE WHEN next_us IS NULL OR asked_us IS NULL THEN ''
            ELSE concat(' ', cast(cast(round((next_us - asked_us) / 1000000.0) AS bigint) AS string), ' s later')
        END AS elapsed
    FROM turns
    WHERE pair_kind IS NOT NULL
    UNION ALL
    SELECT
        line, interaction_id, source, session_key, session, lot, pair_kind, pair_score, next_question, next_id,
        concat(' in a new session ', cast(cast(round((next_us - asked_us) / 1000000.0) AS bigint) AS string), ' s later')
            AS elapsed
    FROM returns
) AS pairs
