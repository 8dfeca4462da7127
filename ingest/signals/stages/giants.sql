-- Sessions too long for one person: a bot, or an id that several users share.
SELECT
    source,
    session_id,
    count(*) AS turns,
    min(user_id) <> max(user_id) AS is_shared
FROM logs
WHERE session_id IS NOT NULL
GROUP BY source, session_id
HAVING count(*) > :giant_session_turns
