-- Failed questions, folded: the same words asked by several users are one need.
SELECT
    t.interaction_id,
    t.source,
    t.session_key,
    t.user_id,
    trim(replace(replace(replace(replace(replace(replace(lower(t.question),
        '?', ''), '!', ''), '.', ''), ',', ''), ';', ''), ':', '')) AS need
FROM turns AS t
WHERE t.interaction_id IN (SELECT h.interaction_id FROM hits AS h WHERE NOT h.is_weak)
