-- The turn ended in an error, an empty answer or a cut stream.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    CASE WHEN has_error THEN 'error' WHEN stream_cut THEN 'cut' ELSE 'empty' END AS kind,
    CASE WHEN has_error OR is_empty_answer THEN 1.0 ELSE 0.8 END AS score,
    CASE WHEN has_error THEN concat('Ended in an error: ', trim(error))
        WHEN stream_cut THEN 'The answer was cut off while it was being written.'
        ELSE 'The answer is empty.' END AS reason,
    false AS is_weak,
    '' AS evidence_id
FROM turns
WHERE has_error OR stream_cut OR is_empty_answer
