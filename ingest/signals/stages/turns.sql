-- The turns that a signal may flag, each with the turn after it, and the hashed sample that controls are drawn from.
-- What goes through the sort is kept narrow: what a row says of itself is settled before, its other columns come after.
WITH placed AS (
    SELECT
        l.interaction_id,
        l.source,
        coalesce(
            o.session_key,
            CASE WHEN g.is_shared THEN NULL ELSE l.session_id END,
            concat('single:', l.interaction_id)
        ) AS session_key,
        unix_micros(l.asked_at) AS asked_us,
        trim(l.question) AS question,
        CASE
            WHEN regexp_like(substr(l.answer, 1, 250), :decline_cue) AND (
                regexp_like(substr(l.answer, 1, 250), :decline_en)
                OR regexp_like(substr(l.answer, 1, 250), :decline_de)
                OR regexp_like(substr(l.answer, 1, 250), :decline_fr)
                OR regexp_like(substr(l.answer, 1, 250), :decline_es)
                OR regexp_like(substr(l.answer, 1, 250), :decline_it)
                OR regexp_like(substr(l.answer, 1, 250), :decline_pt)
                OR regexp_like(substr(l.answer, 1, 250), :decline_nl)
            )
            THEN substr(l.answer, 1, 2000)
        END AS may_decline,
        coalesce(trim(substr(l.answer, 1, 50)), '') = '' AS is_empty_answer,
        coalesce(trim(l.error), '') <> '' AS has_error,
        l.stream_cut,
        l.feedback,
        coalesce(
            (l.latency_ms > :slow_floor_ms AND l.latency_ms > :slow_factor * u.latency_ms)
                OR l.cost > :costly_factor * u.cost,
            false
        ) AS may_stand_out,
        g.turns IS NOT NULL AND NOT g.is_shared AS is_giant,
        substr(md5(concat(:seed, l.interaction_id)), 1, 8) AS draw
    FROM logs AS l
    LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
    LEFT JOIN loose AS o ON o.interaction_id = l.interaction_id
    CROSS JOIN (SELECT min(latency_ms) AS latency_ms, min(CASE WHEN cost > 0 THEN cost END) AS cost FROM baselines) AS u
),
neighboured AS (
    SELECT
        *,
        lead(interaction_id) OVER session AS next_id,
        lead(interaction_id, 2) OVER session IS NULL AS next_is_last,
        lead(question) OVER session AS next_question,
        lead(asked_us) OVER session AS next_us,
        lead(feedback) OVER session AS next_feedback,
        lag(interaction_id) OVER session IS NULL AS is_first
    FROM placed
    WINDOW session AS (PARTITION BY source, session_key ORDER BY coalesce(asked_us, 0), interaction_id)
),
cued AS (
    SELECT
        *,
        lower(question) AS folded,
        lower(next_question) AS next_folded,
        next_question IS NOT NULL AND NOT is_giant AND question <> '' AND next_question <> ''
            AND coalesce(next_us - asked_us, 0) <= :rephrase_window_us AS is_pair,
        coalesce(regexp_like(next_question, :any_cue), false) AS has_cue
    FROM neighboured
    WHERE question <> ''
),
paired AS (
    SELECT
        *,
        CASE WHEN has_cue AND is_pair THEN folded <> next_folded AND regexp_like(next_folded, :corrected) ELSE false END
            AS is_corrected,
        rephrase(
            CASE
                WHEN is_pair AND folded = next_folded THEN folded
                WHEN is_pair AND NOT has_cue THEN folded
                WHEN is_pair THEN CASE WHEN NOT regexp_like(next_folded, :corrected) THEN folded END
            END,
            next_folded
        ) AS pair,
        CASE WHEN has_cue THEN regexp_like(next_folded, :complaint) ELSE false END AS next_complains,
        CASE WHEN has_cue THEN regexp_like(next_folded, :hand_off) ELSE false END AS next_wants_person,
        CASE WHEN is_first THEN regexp_like(question, :hand_off) ELSE false END AS wants_person
    FROM cued
),
flagged AS (
    SELECT *, declining(may_decline) AS declined
    FROM paired
    WHERE feedback < 0
        OR has_error
        OR stream_cut
        OR is_empty_answer
        OR pair.kind IS NOT NULL
        OR is_corrected
        OR may_decline IS NOT NULL
        OR next_complains
        OR next_wants_person
        OR wants_person
        OR may_stand_out
        OR draw < :sample_below
)
SELECT
    f.interaction_id,
    f.source,
    f.session_key,
    l.user_id,
    f.asked_us,
    substr(f.question, 1, 300) AS question,
    f.feedback,
    substr(l.feedback_comment, 1, 300) AS feedback_comment,
    substr(l.error, 1, 200) AS error,
    f.stream_cut,
    f.is_giant,
    f.next_id,
    substr(f.next_question, 1, 300) AS next_question,
    f.next_us,
    f.next_feedback,
    CASE WHEN f.is_corrected THEN 'corrected' ELSE f.pair.kind END AS pair_kind,
    CASE WHEN f.is_corrected THEN 0.8 ELSE f.pair.score END AS pair_score,
    f.declined,
    f.next_complains,
    f.next_wants_person,
    f.wants_person,
    f.has_error,
    f.is_empty_answer,
    CASE WHEN l.latency_ms > :slow_floor_ms AND l.latency_ms > :slow_factor * b.latency_ms
        THEN l.latency_ms / b.latency_ms END AS times_slower,
    CASE WHEN b.cost > 0 AND l.cost > :costly_factor * b.cost THEN l.cost / b.cost END AS times_costlier,
    f.next_id IS NULL AND coalesce(f.asked_us + :idle_gap_us < h.horizon_us, f.asked_us IS NULL) AS ends_closed,
    f.next_id IS NULL AND coalesce(f.asked_us + :idle_gap_us >= h.horizon_us, false) AS ends_open,
    f.next_id IS NOT NULL AND f.next_is_last
        AND coalesce(f.next_us + :idle_gap_us < h.horizon_us, f.next_us IS NULL) AS next_ends_closed,
    f.next_id IS NOT NULL AND f.next_is_last
        AND coalesce(f.next_us + :idle_gap_us >= h.horizon_us, false) AS next_ends_open,
    f.draw,
    f.draw < :control_below AS is_control
FROM flagged AS f
JOIN logs AS l ON l.interaction_id = f.interaction_id
LEFT JOIN baselines AS b ON b.source = f.source AND b.model = coalesce(l.model, '')
LEFT JOIN horizons AS h ON h.source = f.source
