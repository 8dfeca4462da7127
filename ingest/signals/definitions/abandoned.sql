-- A closed session ended on an error, an empty, cut or declined answer, a question asked again or a call for a person.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    kind,
    CASE WHEN kind IN ('error', 'empty', 'asked_again') THEN 0.9 WHEN kind = 'cut' THEN 0.8 ELSE 0.7 END AS score,
    concat('The user left after ', CASE kind
        WHEN 'error' THEN 'an error'
        WHEN 'empty' THEN 'an empty answer'
        WHEN 'cut' THEN 'an answer that was cut off'
        WHEN 'declined' THEN 'the assistant declined'
        WHEN 'asked_again' THEN 'asking the same again'
        ELSE 'asking for a person' END, ', and the session is closed.') AS reason,
    kind IN ('wants_person', 'declined') AS is_weak,
    evidence_id
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY line
            ORDER BY CASE kind WHEN 'error' THEN 1 WHEN 'empty' THEN 2 WHEN 'asked_again' THEN 3 WHEN 'cut' THEN 4
                WHEN 'declined' THEN 5 ELSE 6 END
        ) AS place
    FROM (
        SELECT
            line,
            interaction_id,
            source,
            session_key,
            session,
            lot,
            CASE WHEN has_error THEN 'error'
                WHEN is_empty_answer THEN 'empty'
                WHEN stream_cut THEN 'cut'
                WHEN declined IS NOT NULL AND declined <> 'partial' THEN 'declined'
                ELSE 'wants_person' END AS kind,
            '' AS evidence_id
        FROM turns
        WHERE ends_closed AND NOT is_giant AND coalesce(feedback, 0) <= 0
            AND (has_error OR is_empty_answer OR stream_cut OR (declined IS NOT NULL AND declined <> 'partial')
                OR wants_person)
        UNION ALL
        SELECT
            next_line AS line,
            next_id AS interaction_id,
            source,
            session_key,
            session,
            substr(md5(concat(:seed, next_id)), 9, 12) AS lot,
            CASE WHEN pair_kind IS NOT NULL THEN 'asked_again' ELSE 'wants_person' END AS kind,
            interaction_id AS evidence_id
        FROM turns
        WHERE next_ends_closed AND NOT is_giant AND coalesce(next_feedback, 0) <= 0
            AND (pair_kind IS NOT NULL OR next_wants_person)
    ) AS endings
) AS ranked
WHERE place = 1
