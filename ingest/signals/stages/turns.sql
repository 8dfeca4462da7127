-- The turns that a signal may flag, each with the turn after it, and the hashed sample that controls are drawn from.
WITH placed AS (
    SELECT
        l.interaction_id,
        l.source,
        coalesce(
            o.session_key,
            CASE WHEN g.is_shared THEN NULL ELSE l.session_id END,
            concat('single:', l.interaction_id)
        ) AS session_key,
        l.user_id,
        unix_micros(l.asked_at) AS asked_us,
        trim(l.question) AS question,
        lower(trim(l.question)) AS folded,
        declining(
            CASE
                WHEN regexp_like(substr(l.answer, 1, 250), :decline_hint)
                    OR regexp_like(substr(l.answer, 1, 250), :decline_hint_more)
                THEN substr(l.answer, 1, 2000)
            END
        ) AS declined,
        coalesce(trim(l.answer), '') = '' AS is_empty_answer,
        l.feedback,
        l.feedback_comment,
        coalesce(l.model, '') AS model,
        l.latency_ms,
        l.cost,
        l.error,
        l.stream_cut,
        g.turns IS NOT NULL AND NOT g.is_shared AS is_giant
    FROM logs AS l
    LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
    LEFT JOIN loose AS o ON o.interaction_id = l.interaction_id
),
neighboured AS (
    SELECT
        *,
        lead(interaction_id) OVER session AS next_id,
        lead(interaction_id, 2) OVER session IS NULL AS next_is_last,
        lead(question) OVER session AS next_question,
        lead(folded) OVER session AS next_folded,
        lead(asked_us) OVER session AS next_us,
        lead(feedback) OVER session AS next_feedback,
        lag(interaction_id) OVER session IS NULL AS is_first
    FROM placed
    WINDOW session AS (PARTITION BY source, session_key ORDER BY coalesce(asked_us, 0), interaction_id)
),
cued AS (
    SELECT
        *,
        next_folded IS NOT NULL AND NOT is_giant AND folded <> '' AND next_folded <> ''
            AND coalesce(next_us - asked_us, 0) <= :rephrase_window_us AS is_pair,
        coalesce(regexp_like(next_folded, :any_cue), false) AS has_cue
    FROM neighboured
),
read AS (
    SELECT
        n.*,
        n.is_pair AND n.has_cue AND n.folded <> n.next_folded AND regexp_like(n.next_folded, :corrected)
            AS is_corrected,
        rephrase(
            CASE
                WHEN n.is_pair AND NOT (n.has_cue AND regexp_like(n.next_folded, :corrected)) THEN n.folded
                WHEN n.is_pair AND n.folded = n.next_folded THEN n.folded
            END,
            n.next_folded
        ) AS pair,
        n.has_cue AND regexp_like(n.next_folded, :complaint) AS next_complains,
        n.has_cue AND regexp_like(n.next_folded, :hand_off) AS next_wants_person,
        n.is_first AND regexp_like(n.folded, :hand_off) AS wants_person,
        n.question = '' AS is_empty_question,
        coalesce(trim(n.error), '') <> '' AS has_error,
        CASE WHEN n.latency_ms > :slow_floor_ms AND n.latency_ms > :slow_factor * b.latency_ms
            THEN n.latency_ms / b.latency_ms END AS times_slower,
        CASE WHEN b.cost > 0 AND n.cost > :costly_factor * b.cost THEN n.cost / b.cost END AS times_costlier,
        n.next_id IS NULL AND coalesce(n.asked_us + :idle_gap_us < h.horizon_us, n.asked_us IS NULL) AS ends_closed,
        n.next_id IS NULL AND coalesce(n.asked_us + :idle_gap_us >= h.horizon_us, false) AS ends_open,
        n.next_id IS NOT NULL AND n.next_is_last
            AND coalesce(n.next_us + :idle_gap_us < h.horizon_us, n.next_us IS NULL) AS next_ends_closed,
        n.next_id IS NOT NULL AND n.next_is_last
            AND coalesce(n.next_us + :idle_gap_us >= h.horizon_us, false) AS next_ends_open,
        substr(md5(concat(:seed, n.interaction_id)), 1, 8) AS draw
    FROM cued AS n
    LEFT JOIN baselines AS b ON b.source = n.source AND b.model = n.model
    LEFT JOIN horizons AS h ON h.source = n.source
)
SELECT
    interaction_id,
    source,
    session_key,
    user_id,
    asked_us,
    substr(question, 1, 300) AS question,
    feedback,
    substr(feedback_comment, 1, 300) AS feedback_comment,
    substr(error, 1, 200) AS error,
    stream_cut,
    is_giant,
    next_id,
    substr(next_question, 1, 300) AS next_question,
    next_us,
    next_feedback,
    CASE WHEN is_corrected THEN 'corrected' ELSE pair.kind END AS pair_kind,
    CASE WHEN is_corrected THEN 0.8 ELSE pair.score END AS pair_score,
    declined,
    next_complains,
    next_wants_person,
    wants_person,
    has_error,
    is_empty_answer,
    is_empty_question,
    times_slower,
    times_costlier,
    ends_closed,
    ends_open,
    next_ends_closed,
    next_ends_open,
    draw,
    draw < :control_below AS is_control
FROM read
WHERE NOT is_empty_question
    AND (
        feedback < 0
        OR has_error
        OR stream_cut
        OR is_empty_answer
        OR pair.kind IS NOT NULL
        OR is_corrected
        OR declined IS NOT NULL
        OR next_complains
        OR next_wants_person
        OR wants_person
        OR times_slower IS NOT NULL
        OR times_costlier IS NOT NULL
        OR draw < :sample_below
    )
