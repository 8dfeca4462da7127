-- How much of an answer stands in what was retrieved for it.
SELECT line, interaction_id, source, session_key, session, lot, measured.share AS share, measured.figure AS figure
FROM (
    SELECT
        c.line,
        any_value(c.interaction_id) AS interaction_id,
        any_value(c.source) AS source,
        any_value(c.session_key) AS session_key,
        any_value(c.session) AS session,
        any_value(c.lot) AS lot,
        supported(any_value(c.answer), array_agg(r.text)) AS measured
    FROM compared AS c
    JOIN retrieved_texts AS r ON r.line = c.line
    GROUP BY c.line
) AS measured_answers
WHERE measured.share IS NOT NULL
