-- Users who left one session and soon asked again in a new one: the last question there and the first one here.
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
    WINDOW visit AS (PARTITION BY source, user_id ORDER BY first_us, session_id)
),
soon AS (
    SELECT v.*
    FROM visited AS v
    LEFT JOIN giants AS g ON g.source = v.source AND g.session_id = v.session_id
    LEFT JOIN bots AS b
        ON b.source = v.source AND b.user_id = v.user_id AND b.day = cast(floor(v.last_us / 86400000000) AS bigint)
    WHERE v.next_us >= v.last_us AND v.next_us - v.last_us <= :rephrase_window_us
        AND g.turns IS NULL AND b.sessions IS NULL
),
ends AS (
    SELECT source, user_id, session_id, last_us AS asked_us FROM soon
    UNION
    SELECT source, user_id, next_session_id AS session_id, next_us AS asked_us FROM soon
),
asked AS (
    SELECT
        e.source,
        e.user_id,
        e.session_id,
        e.asked_us,
        min(l.interaction_id) AS first_id,
        max(l.interaction_id) AS last_id,
        min_by(trim(l.question), l.interaction_id) AS first_question,
        max_by(trim(l.question), l.interaction_id) AS last_question
    FROM ends AS e
    JOIN (
        SELECT * FROM logs AS t JOIN (SELECT DISTINCT asked_us FROM ends) AS m ON m.asked_us = unix_micros(t.asked_at)
    ) AS l
        ON l.source = e.source AND l.session_id = e.session_id AND l.user_id = e.user_id AND l.asked_us = e.asked_us
    GROUP BY e.source, e.user_id, e.session_id, e.asked_us
),
questions AS (
    SELECT
        s.source,
        s.session_id,
        s.last_us AS asked_us,
        s.next_us,
        a.last_id AS interaction_id,
        a.last_question AS question,
        lower(a.last_question) AS folded,
        b.first_id AS next_id,
        b.first_question AS next_question,
        lower(b.first_question) AS next_folded
    FROM soon AS s
    JOIN asked AS a
        ON a.source = s.source AND a.user_id = s.user_id AND a.session_id = s.session_id AND a.asked_us = s.last_us
    JOIN asked AS b
        ON b.source = s.source AND b.user_id = s.user_id AND b.session_id = s.next_session_id
            AND b.asked_us = s.next_us
),
paired AS (
    SELECT
        *,
        folded <> next_folded AND regexp_like(next_folded, :corrected) AS is_corrected,
        rephrase(folded, next_folded) AS pair
    FROM questions
    WHERE folded <> '' AND next_folded <> ''
)
SELECT
    interaction_id,
    source,
    session_id AS session_key,
    asked_us,
    substr(question, 1, 300) AS question,
    next_id,
    substr(next_question, 1, 300) AS next_question,
    next_us,
    CASE WHEN is_corrected THEN 'corrected' ELSE pair.kind END AS pair_kind,
    CASE WHEN is_corrected THEN 0.8 ELSE pair.score END AS pair_score
FROM paired
WHERE is_corrected OR pair.kind IS NOT NULL
