-- Each user's part of each session, from its first to its last turn; `session` and `visitor` are numbers of these texts.
SELECT
    source,
    session_id,
    user_id,
    session_number(source, session_id) AS session,
    CASE WHEN user_id IS NOT NULL THEN session_number(source, user_id) END AS visitor,
    count(*) AS turns,
    min(unix_micros(asked_at)) AS first_us,
    max(unix_micros(asked_at)) AS last_us
FROM logs
WHERE session_id IS NOT NULL
GROUP BY source, session_id, user_id
