-- Sessions too long for one person: a bot, or an id that several users share. Most sessions fall with few turns into one
-- of many buckets, and so are told to be short by a look at the buckets.
SELECT l.source, l.session_id, g.session, g.turns, g.is_shared
FROM (
    SELECT session, min(line) AS line, sum(turns) AS turns, count(visitor) > 1 AS is_shared
    FROM visits
    WHERE session % 65536 IN (
        SELECT session % 65536 FROM visits GROUP BY session % 65536 HAVING sum(turns) > :giant_session_turns
    )
    GROUP BY session
    HAVING sum(turns) > :giant_session_turns
) AS g
JOIN logs AS l ON l.line = g.line
