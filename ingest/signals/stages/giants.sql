-- Sessions too long for one person: a bot, or an id that several users share.
SELECT
    source,
    session_id,
    sum(turns) AS turns,
    count(user_id) > 1 AS is_shared
FROM visits
WHERE session IN (SELECT session FROM visits GROUP BY session HAVING sum(turns) > :giant_session_turns)
GROUP BY source, session_id
