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
paired AS (
    SELECT
        s.*,
        substr(trim(a.question), 1, 300) AS question,
        substr(trim(b.question), 1, 300) AS next_question,
        rephrase(trim(a.question), trim(b.question)) AS pair
    FROM soon AS s
    JOIN logs AS a ON a.interaction_id = s.interaction_id
    JOIN logs AS b ON b.interaction_id = s.next_id
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
    pair.kind AS pair_kind,
    pair.score AS pair_score
FROM paired
WHERE pair.kind IS NOT NULL
