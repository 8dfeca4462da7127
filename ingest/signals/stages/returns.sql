-- Who soon asked again in a new session: the last question of the one before and the first of the next.
WITH questions AS (
    SELECT
        s.source,
        s.session_id,
        s.last_us AS asked_us,
        s.next_us,
        l.interaction_id,
        trim(l.question) AS question,
        lower(trim(l.question)) AS folded,
        n.interaction_id AS next_id,
        trim(n.question) AS next_question,
        lower(trim(n.question)) AS next_folded
    FROM soon AS s
    JOIN ends AS a
        ON a.source = s.source AND a.user_id = s.user_id AND a.session_id = s.session_id AND a.asked_us = s.last_us
    JOIN ends AS b
        ON b.source = s.source AND b.user_id = s.user_id AND b.session_id = s.next_session_id
            AND b.asked_us = s.next_us
    JOIN logs AS l ON l.line = a.last_line
    JOIN logs AS n ON n.line = b.first_line
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
