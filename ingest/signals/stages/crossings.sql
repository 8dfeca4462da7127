-- The last question before a user began another session and the first one there; apart, so that they are compared many at
-- a time. Of turns at one time the first by id opens a session and the last ends one.
WITH bounds AS (
    SELECT visitor, session, asked_us, min_by(line, interaction_id) AS first_line,
        max_by(line, interaction_id) AS last_line
    FROM ends
    GROUP BY visitor, session, asked_us
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
JOIN bounds AS a ON a.visitor = s.visitor AND a.session = s.session AND a.asked_us = s.last_us
JOIN bounds AS b ON b.visitor = s.visitor AND b.session = s.next_session AND b.asked_us = s.next_us
JOIN ends AS l ON l.line = a.last_line
JOIN ends AS n ON n.line = b.first_line
