-- Users who left one session and soon began another: the last time there and the first one here. Where two sessions began
-- at one time, nobody can tell which came first, and neither is compared.
WITH visited AS (
    SELECT
        visitor,
        session,
        first_us,
        last_us,
        lag(first_us) OVER visit AS before_us,
        lead(session) OVER visit AS next_session,
        lead(first_us) OVER visit AS next_us,
        lead(first_us, 2) OVER visit AS after_us
    FROM visits
    WHERE visitor IS NOT NULL AND last_us IS NOT NULL
    WINDOW visit AS (PARTITION BY visitor ORDER BY first_us)
)
SELECT v.visitor, v.session, v.last_us, v.next_session, v.next_us
FROM visited AS v
LEFT JOIN giants AS g ON g.session = v.session
LEFT JOIN bots AS b ON b.visitor = v.visitor AND b.day = cast(floor(v.last_us / 86400000000) AS bigint)
WHERE v.next_us >= v.last_us AND v.next_us - v.last_us <= :rephrase_window_us
    AND v.next_us > v.first_us
    AND coalesce(v.before_us < v.first_us, true)
    AND coalesce(v.after_us > v.next_us, true)
    AND g.turns IS NULL AND b.sessions IS NULL
