-- The answers that are compared with what was retrieved for them: a hashed sample of those that answer.
SELECT line, interaction_id, source, session_key, session, lot, drawn_answer AS answer
FROM turns
WHERE drawn_answer IS NOT NULL
    AND NOT is_empty_answer
    AND NOT has_error
    AND NOT stream_cut
    AND (declined IS NULL OR declined = 'partial')
