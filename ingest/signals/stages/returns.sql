-- Users who left one session and soon asked again in a new one, with both questions.
WITH following AS (
    SELECT
        interaction_id,
        source,
        session_id,
        unix_micros(asked_at) AS asked_us,
        lead(interaction_id) OVER visits AS next_id,
        lead(session_id) OVER visits AS next_session_id,
        lead(unix_micros(asked_at)) OVER visits AS next_us
    FROM logs
    WHERE user_id IS NOT NULL AND session_id IS NOT NULL AND asked_at IS NOT NULL
    WINDOW visits AS (PARTITION BY source, user_id ORDER BY asked_at, interaction_id)
),
soon AS (
    SELECT f.*
    FROM following AS f
    LEFT JOIN giants AS g ON g.source = f.source AND g.session_id = f.session_id
    WHERE f.next_session_id <> f.session_id AND f.next_us - f.asked_us <= :rephrase_window_us AND g.turns IS NULL
),
questions AS (
    SELECT
        s.*,
        substr(trim(a.question), 1, 300) AS question,
        substr(trim(b.question), 1, 300) AS next_question,
        lower(trim(a.question)) AS folded,
        lower(trim(b.question)) AS next_folded
    FROM soon AS s
    JOIN logs AS a ON a.interaction_id = s.interaction_id
    JOIN logs AS b ON b.interaction_id = s.next_id
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
    question,
    next_id,
    next_question,
    next_us,
    CASE WHEN is_corrected THEN 'corrected' ELSE pair.kind END AS pair_kind,
    CASE WHEN is_corrected THEN 0.8 ELSE pair.score END AS pair_score
FROM paired
WHERE is_corrected OR pair.kind IS NOT NULL
