-- Users who begin more sessions in a day than a person has turns in one: scripts that take a new session for each request.
SELECT source, user_id, cast(floor(last_us / 86400000000) AS bigint) AS day, count(*) AS sessions
FROM visits
WHERE last_us IS NOT NULL
    AND visitor IN (SELECT visitor FROM visits GROUP BY visitor HAVING count(*) > :giant_session_turns)
GROUP BY source, user_id, cast(floor(last_us / 86400000000) AS bigint)
HAVING count(*) > :giant_session_turns
