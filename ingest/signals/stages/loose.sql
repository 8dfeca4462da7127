-- Sessions for turns that have no session id of their own: one user's turns, cut at the idle gap.
SELECT
    interaction_id,
    concat('user:', user_id, ':', cast(sum(starts) OVER (
        PARTITION BY source, user_id ORDER BY asked_us, interaction_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS bigint)) AS session_key
FROM (
    SELECT
        l.interaction_id,
        l.source,
        l.user_id,
        coalesce(unix_micros(l.asked_at), 0) AS asked_us,
        CASE
            WHEN unix_micros(l.asked_at) - lag(unix_micros(l.asked_at)) OVER (
                PARTITION BY l.source, l.user_id ORDER BY coalesce(unix_micros(l.asked_at), 0), l.interaction_id
            ) <= :idle_gap_us THEN 0
            ELSE 1
        END AS starts
    FROM logs AS l
    LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
    WHERE l.user_id IS NOT NULL AND (l.session_id IS NULL OR g.is_shared)
) AS marked
