-- Users who left one session and soon began another: the last time there and the first one here.
-- Users are told apart by number, so that what is sorted stays narrow.
WITH visited AS (
    SELECT
        source,
        user_id,
        session_id,
        last_us,
        lead(session_id) OVER visit AS next_session_id,
        lead(first_us) OVER visit AS next_us
    FROM visits
    WHERE user_id IS NOT NULL AND last_us IS NOT NULL
    WINDOW visit AS (PARTITION BY visitor ORDER BY first_us, session_id)
)
SELECT v.*
FROM visited AS v
LEFT JOIN giants AS g ON g.source = v.source AND g.session_id = v.session_id
LEFT JOIN bots AS b
    ON b.source = v.source AND b.user_id = v.user_id AND b.day = cast(floor(v.last_us / 86400000000) AS bigint)
WHERE v.next_us >= v.last_us AND v.next_us - v.last_us <= :rephrase_window_us
    AND g.turns IS NULL AND b.sessions IS NULL
