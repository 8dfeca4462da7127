-- How much of an answer stands in what was retrieved for it, on the hashed sample that is compared.
SELECT interaction_id, source, session_key, measured.share AS share, measured.figure AS figure
FROM (
    SELECT
        t.interaction_id,
        any_value(t.source) AS source,
        any_value(t.session_key) AS session_key,
        supported(any_value(substr(l.answer, 1, 4000)), array_join(array_agg(r.text), ' \n ')) AS measured
    FROM turns AS t
    JOIN logs AS l ON l.interaction_id = t.interaction_id
    JOIN retrieved_texts AS r ON r.interaction_id = t.interaction_id
    WHERE t.draw < :support_below
        AND NOT t.is_empty_answer
        AND NOT t.has_error
        AND NOT t.stream_cut
        AND (t.declined IS NULL OR t.declined = 'partial')
    GROUP BY t.interaction_id
) AS compared
WHERE measured.share IS NOT NULL
