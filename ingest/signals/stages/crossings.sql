-- The last question before a user began another session and the first one there; apart, so that they are compared many at
-- a time.
WITH asked AS (
    SELECT line, interaction_id, trim(question) AS question
    FROM logs
    WHERE line IN (SELECT first_line FROM ends UNION ALL SELECT last_line FROM ends)
)
SELECT
    s.source,
    s.session_id,
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
JOIN ends AS a
    ON a.source = s.source AND a.user_id = s.user_id AND a.session_id = s.session_id AND a.asked_us = s.last_us
JOIN ends AS b
    ON b.source = s.source AND b.user_id = s.user_id AND b.session_id = s.next_session_id AND b.asked_us = s.next_us
JOIN asked AS l ON l.line = a.last_line
JOIN asked AS n ON n.line = b.first_line
