-- Failed questions, folded: the same words asked by several users are one need.
SELECT DISTINCT
    t.interaction_id,
    t.source,
    t.session_key,
    t.user_id,
    trim(translate(lower(t.question), '?!.,;:', '')) AS need
FROM turns AS t
JOIN hits AS h ON h.interaction_id = t.interaction_id
WHERE NOT h.is_weak
