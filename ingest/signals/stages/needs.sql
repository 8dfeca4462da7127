-- Failed questions, folded and numbered: the same words asked by several users are one need. A turn that was abandoned for
-- being asked again is none: the same was asked before it.
SELECT
    t.line,
    session_number(t.source, trim(replace(replace(replace(replace(replace(replace(lower(t.question),
        '?', ''), '!', ''), '.', ''), ',', ''), ';', ''), ':', ''))) AS need,
    CASE WHEN t.user_id IS NOT NULL THEN session_number(t.source, t.user_id) END AS asker
FROM turns AS t
WHERE t.line IN (SELECT h.line FROM hits AS h WHERE NOT h.is_weak AND h.signal <> 'abandoned')
