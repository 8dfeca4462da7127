-- The assistant declined: it could not find an answer, or said it must not give one.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    declined AS kind,
    CASE WHEN declined = 'partial' THEN 0.5 ELSE 0.8 END AS score,
    CASE declined
        WHEN 'policy' THEN 'The assistant refused to answer.'
        WHEN 'partial' THEN 'The assistant declined a part of the question.'
        ELSE 'The assistant said that it could not find an answer.' END AS reason,
    declined = 'partial' AS is_weak,
    '' AS evidence_id
FROM turns
WHERE declined IS NOT NULL
