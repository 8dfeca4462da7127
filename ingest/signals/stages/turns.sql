-- The turns that a signal may flag, each with the turn after it, and the hashed sample that controls are drawn from.
-- What goes through the sort is kept narrow: what a row says of itself is settled before, its other columns come after.
WITH looked AS (
    SELECT *, first_look(question, answer) AS look, md5(concat(:seed, interaction_id)) < :sample_below AS is_drawn
    FROM logs
),
placed AS (
    SELECT
        l.line,
        l.interaction_id,
        session_number(
            l.source,
            coalesce(
                o.session_key,
                CASE WHEN g.is_shared THEN NULL ELSE l.session_id END,
                concat('single:', l.interaction_id)
            )
        ) AS session,
        unix_micros(l.asked_at) AS asked_us,
        -- Hardly any row needs what the bits of the first look tell of.
        CASE WHEN (l.look & 2) <> 0 THEN trim(l.question) ELSE l.question END AS question,
        (l.look & 1) <> 0 AS may_have_cue,
        l.feedback,
        CASE WHEN (l.look & 8) <> 0 THEN coalesce(trim(first_letters(l.answer, 50)), '') = '' ELSE false END
            AS is_empty_answer,
        (g.turns IS NOT NULL AND NOT g.is_shared) OR coalesce(o.turns > :giant_session_turns, false) AS is_giant,
        CASE WHEN (l.look & 4) <> 0 THEN
            CASE
                WHEN regexp_like(first_letters(l.answer, 250), :decline_cue) AND (
                    regexp_like(first_letters(l.answer, 250), :decline_en)
                    OR regexp_like(first_letters(l.answer, 250), :decline_de)
                    OR regexp_like(first_letters(l.answer, 250), :decline_fr)
                    OR regexp_like(first_letters(l.answer, 250), :decline_es)
                    OR regexp_like(first_letters(l.answer, 250), :decline_it)
                    OR regexp_like(first_letters(l.answer, 250), :decline_pt)
                    OR regexp_like(first_letters(l.answer, 250), :decline_nl)
                )
                THEN first_letters(l.answer, 2000)
            END
        END AS may_decline,
        coalesce(
            l.feedback < 0
                OR l.stream_cut
                OR coalesce(trim(l.error), '') <> ''
                OR (l.latency_ms > :slow_floor_ms AND l.latency_ms > :slow_factor * u.latency_ms)
                OR l.cost > :costly_factor * u.cost
                OR l.is_drawn,
            false
        ) AS is_noted,
        -- The few answers that may be compared with what was retrieved: to find them again takes as long as to read all.
        CASE WHEN l.is_drawn THEN
            CASE WHEN md5(concat(:seed, l.interaction_id)) < :support_below THEN first_letters(l.answer, 4000) END
        END AS drawn_answer
    FROM looked AS l
    LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
    LEFT JOIN loose AS o ON o.interaction_id = l.interaction_id
    CROSS JOIN (SELECT min(latency_ms) AS latency_ms, min(CASE WHEN cost > 0 THEN cost END) AS cost FROM baselines) AS u
),
read AS (
    SELECT *, CASE WHEN may_decline IS NOT NULL THEN declining(may_decline) END AS declined
    FROM placed
),
neighboured AS (
    SELECT
        line,
        session,
        question,
        asked_us,
        is_giant,
        is_empty_answer,
        declined,
        drawn_answer,
        is_noted OR is_empty_answer OR declined IS NOT NULL AS is_noted,
        lead(line) OVER along AS next_line,
        lead(interaction_id) OVER along AS next_id,
        lead(line, 2) OVER along IS NULL AS next_is_last,
        lead(question) OVER along AS next_question,
        lead(asked_us) OVER along AS next_us,
        lead(feedback) OVER along AS next_feedback,
        coalesce(lead(may_have_cue) OVER along, false) AS next_may_have_cue,
        may_have_cue AND lag(line) OVER along IS NULL AS may_open_with_cue
    FROM read
    WINDOW along AS (PARTITION BY session ORDER BY coalesce(asked_us, 0), length(interaction_id), interaction_id)
),
cued AS (
    SELECT
        *,
        CASE WHEN next_may_have_cue AND is_pair
            THEN lower(question) <> lower(next_question) AND regexp_like(lower(next_question), :corrected)
            ELSE false END AS is_corrected,
        CASE WHEN next_may_have_cue THEN regexp_like(lower(next_question), :complaint) ELSE false END AS next_complains,
        CASE WHEN next_may_have_cue THEN regexp_like(lower(next_question), :hand_off) ELSE false END AS next_wants_person,
        CASE WHEN may_open_with_cue THEN regexp_like(lower(question), :hand_off) ELSE false END AS wants_person
    FROM (
        SELECT
            *,
            next_question IS NOT NULL AND NOT is_giant AND next_question <> ''
                AND coalesce(next_us - asked_us, 0) <= :rephrase_window_us AS is_pair
        FROM neighboured
        WHERE question <> ''
    ) AS asked
),
flagged AS (
    SELECT *
    FROM (
        SELECT
            *,
            CASE WHEN is_pair AND NOT is_corrected THEN rephrase(
                CASE WHEN is_pair AND NOT is_corrected THEN question END,
                CASE WHEN is_pair AND NOT is_corrected THEN next_question END
            ) END AS pair
        FROM cued
    ) AS paired
    WHERE is_noted
        OR is_corrected
        OR pair.kind IS NOT NULL
        OR next_complains
        OR next_wants_person
        OR wants_person
)
SELECT
    f.line,
    f.session,
    l.interaction_id,
    l.source,
    coalesce(
        o.session_key,
        CASE WHEN g.is_shared THEN NULL ELSE l.session_id END,
        concat('single:', l.interaction_id)
    ) AS session_key,
    l.user_id,
    f.asked_us,
    first_letters(f.question, 300) AS question,
    l.feedback,
    first_letters(l.feedback_comment, 300) AS feedback_comment,
    first_letters(l.error, 200) AS error,
    l.stream_cut,
    f.is_giant,
    f.next_line,
    f.next_id,
    first_letters(f.next_question, 300) AS next_question,
    f.next_us,
    f.next_feedback,
    CASE WHEN f.is_corrected THEN 'corrected' ELSE f.pair.kind END AS pair_kind,
    CASE WHEN f.is_corrected THEN 0.8 ELSE f.pair.score END AS pair_score,
    f.declined,
    f.drawn_answer,
    f.next_complains,
    f.next_wants_person,
    f.wants_person,
    coalesce(trim(l.error), '') <> '' AS has_error,
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
    md5(concat(:seed, l.interaction_id)) < :control_below AS is_control,
    substr(md5(concat(:seed, l.interaction_id)), 9, 12) AS lot
FROM flagged AS f
JOIN logs AS l ON l.line = f.line
LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
LEFT JOIN loose AS o ON o.interaction_id = l.interaction_id
LEFT JOIN baselines AS b ON b.source = l.source AND b.model = coalesce(l.model, '')
LEFT JOIN horizons AS h ON h.source = l.source
