-- Where the turns at these times stand; of turns at one time the first by id opens a session and the last ends one.
SELECT e.source, e.user_id, e.session_id, e.asked_us, min_by(l.line, l.interaction_id) AS first_line,
    max_by(l.line, l.interaction_id) AS last_line
FROM (
    SELECT source, user_id, session_id, last_us AS asked_us FROM soon
    UNION
    SELECT source, user_id, next_session_id AS session_id, next_us AS asked_us FROM soon
) AS e
JOIN (SELECT line, interaction_id, source, session_id, user_id, unix_micros(asked_at) AS asked_us FROM logs) AS l
    ON l.asked_us = e.asked_us AND l.session_id = e.session_id AND l.source = e.source AND l.user_id = e.user_id
GROUP BY e.source, e.user_id, e.session_id, e.asked_us
