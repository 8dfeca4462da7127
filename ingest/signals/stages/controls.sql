-- Unflagged turns of the hashed sample; what they show estimates what the signals miss.
SELECT t.line, t.interaction_id, t.source, t.session_key, cast(:control_share AS double) AS probability
FROM turns AS t
LEFT JOIN hits AS h ON h.line = t.line
WHERE t.is_control AND h.line IS NULL
