-- The last question before a user began another session and the first one there; apart, so that they are compared many at
-- a time.
WITH asked AS (
    SELECT line, interaction_id, source, session_id, trim(question) AS question
    FROM logs
    WHERE line IN (SELECT first_line FROM ends UNION ALL SELECT last_line FROM ends)
)
SELECT
    l.source,
    l.session_id,
    s.session,
    s.last_us AS asked_us,
    s.next_us,
    l.line,
    l.interaction_id,
    l.question,
    lower(l.question) AS folded,
    n.interaction_id AS next_id,
    n.question AS next_question,
    lower(n.question) AS next_folded
FROM soon AS s
JOIN ends AS a ON a.visitor = s.visitor AND a.session = s.session AND a.asked_us = s.last_us
JOIN ends AS b ON b.visitor = s.visitor AND b.session = s.next_session AND b.asked_us = s.next_us
JOIN asked AS l ON l.line = a.last_line
JOIN asked AS n ON n.line = b.first_line
