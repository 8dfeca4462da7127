-- Failed questions, folded and numbered: the same words asked by several users are one need. A turn that was abandoned for
-- being asked again is none: the same was asked before it.
SELECT
    line,
    -- Hardly any need it, and to look for that is quicker.
    session_number(source, CASE WHEN words LIKE ' %' OR words LIKE '% ' THEN trim(words) ELSE words END) AS need,
    CASE WHEN user_id IS NOT NULL THEN session_number(source, user_id) END AS asker
FROM (
    SELECT
        t.line,
        t.source,
        t.user_id,
        replace(replace(replace(replace(replace(replace(lower(t.question),
            '?', ''), '!', ''), '.', ''), ',', ''), ';', ''), ':', '') AS words
    FROM turns AS t
    WHERE t.line IN (SELECT h.line FROM hits AS h WHERE NOT h.is_weak AND h.signal <> 'abandoned')
) AS failed
