-- Each user's part of each session, from its first to its last turn; `session` and `visitor` are numbers of these texts,
-- and `line` is one of its turns. What is grouped and sorted stays narrow.
SELECT session, visitor, count(*) AS turns, min(line) AS line, min(asked_us) AS first_us, max(asked_us) AS last_us
FROM (
    SELECT
        session_number(source, session_id) AS session,
        CASE WHEN user_id IS NOT NULL THEN session_number(source, user_id) END AS visitor,
        line,
        unix_micros(asked_at) AS asked_us
    FROM logs
    WHERE session_id IS NOT NULL
) AS parts
GROUP BY session, visitor
