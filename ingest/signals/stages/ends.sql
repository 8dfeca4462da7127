-- Where the turns at these times stand; of turns at one time the first by id opens a session and the last ends one.
SELECT e.visitor, e.session, e.asked_us, min_by(l.line, l.interaction_id) AS first_line,
    max_by(l.line, l.interaction_id) AS last_line
FROM (
    SELECT visitor, session, last_us AS asked_us FROM soon
    UNION
    SELECT visitor, next_session AS session, next_us AS asked_us FROM soon
) AS e
JOIN (
    SELECT
        line,
        interaction_id,
        session_number(source, session_id) AS session,
        session_number(source, user_id) AS visitor,
        unix_micros(asked_at) AS asked_us
    FROM logs
    WHERE session_id IS NOT NULL AND user_id IS NOT NULL
) AS l ON l.asked_us = e.asked_us AND l.session = e.session AND l.visitor = e.visitor
GROUP BY e.visitor, e.session, e.asked_us
