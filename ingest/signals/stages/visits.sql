-- Each user's part of each session, from its first to its last turn.
SELECT
    source,
    session_id,
    user_id,
    count(*) AS turns,
    min(unix_micros(asked_at)) AS first_us,
    max(unix_micros(asked_at)) AS last_us
FROM logs
WHERE session_id IS NOT NULL
GROUP BY source, session_id, user_id
