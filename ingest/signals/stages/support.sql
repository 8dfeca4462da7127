-- How much of an answer stands in what was retrieved for it.
SELECT interaction_id, source, session_key, measured.share AS share, measured.figure AS figure
FROM (
    SELECT
        c.interaction_id,
        any_value(c.source) AS source,
        any_value(c.session_key) AS session_key,
        supported(any_value(substr(l.answer, 1, 4000)), array_join(array_agg(r.text), ' \n ')) AS measured
    FROM compared AS c
    JOIN logs AS l ON l.line = c.line
    JOIN retrieved_texts AS r ON r.interaction_id = c.interaction_id
    GROUP BY c.interaction_id
) AS measured_answers
WHERE measured.share IS NOT NULL
