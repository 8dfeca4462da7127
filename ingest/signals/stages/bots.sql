-- Users who begin more sessions in a day than a person has turns in one: scripts that take a new session for each request.
WITH busy AS (
    SELECT source, user_id FROM visits WHERE user_id IS NOT NULL
    GROUP BY source, user_id HAVING count(*) > :giant_session_turns
)
SELECT v.source, v.user_id, cast(floor(v.last_us / 86400000000) AS bigint) AS day, count(*) AS sessions
FROM visits AS v
JOIN busy AS b ON b.source = v.source AND b.user_id = v.user_id
WHERE v.last_us IS NOT NULL
GROUP BY v.source, v.user_id, cast(floor(v.last_us / 86400000000) AS bigint)
HAVING count(*) > :giant_session_turns
