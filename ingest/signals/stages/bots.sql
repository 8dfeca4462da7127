-- Users who begin more sessions in a day than a person has turns in one: scripts that take a new session for each request.
SELECT l.source, l.user_id, b.visitor, b.day, b.sessions
FROM (
    SELECT visitor, cast(floor(last_us / 86400000000) AS bigint) AS day, min(line) AS line, count(*) AS sessions
    FROM visits
    WHERE last_us IS NOT NULL
        AND visitor IN (SELECT visitor FROM visits GROUP BY visitor HAVING count(*) > :giant_session_turns)
    GROUP BY visitor, cast(floor(last_us / 86400000000) AS bigint)
    HAVING count(*) > :giant_session_turns
) AS b
JOIN logs AS l ON l.line = b.line
