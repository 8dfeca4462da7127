-- The user asks for a person instead of the assistant.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    '' AS kind,
    CASE WHEN next_wants_person THEN 0.9 ELSE 0.4 END AS score,
    CASE WHEN next_wants_person
        THEN concat('The next message asks for a person: “', next_question, '”.')
        ELSE concat('Opens by asking for a person: “', question, '”.') END AS reason,
    NOT next_wants_person AS is_weak,
    CASE WHEN next_wants_person THEN next_id ELSE '' END AS evidence_id
FROM turns
WHERE next_wants_person OR wants_person
