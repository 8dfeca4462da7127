-- The turns that stand at these times: where a user left one session, or soon began another.
SELECT
    e.visitor,
    e.session,
    e.asked_us,
    l.line,
    l.interaction_id,
    l.source,
    l.session_id,
    trim(l.question) AS question
FROM (
    SELECT visitor, session, last_us AS asked_us FROM soon
    UNION
    SELECT visitor, next_session AS session, next_us AS asked_us FROM soon
) AS e
JOIN (
    SELECT
        line,
        interaction_id,
        source,
        session_id,
        question,
        session_number(source, session_id) AS session,
        session_number(source, user_id) AS visitor,
        unix_micros(asked_at) AS asked_us
    FROM logs
    WHERE session_id IS NOT NULL AND user_id IS NOT NULL
) AS l ON l.asked_us = e.asked_us AND l.session = e.session AND l.visitor = e.visitor
