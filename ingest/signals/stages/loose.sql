-- Sessions for turns that have no session id of their own: one user's turns, cut at the idle gap; and how long each is.
SELECT
    interaction_id,
    source,
    concat('user:', user_id, ':', cast(place AS string)) AS session_key,
    count(*) OVER (PARTITION BY source, user_id, place) AS turns
FROM (
    SELECT
        interaction_id,
        source,
        user_id,
        cast(sum(starts) OVER (
            PARTITION BY source, user_id ORDER BY asked_us, length(interaction_id), interaction_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS bigint) AS place
    FROM (
        SELECT
            l.interaction_id,
            l.source,
            l.user_id,
            coalesce(unix_micros(l.asked_at), 0) AS asked_us,
            CASE
                WHEN unix_micros(l.asked_at) - lag(unix_micros(l.asked_at)) OVER (
                    PARTITION BY l.source, l.user_id
                    ORDER BY coalesce(unix_micros(l.asked_at), 0), length(l.interaction_id), l.interaction_id
                ) <= :idle_gap_us THEN 0
                ELSE 1
            END AS starts
        FROM logs AS l
        LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
        WHERE l.user_id IS NOT NULL AND (l.session_id IS NULL OR g.is_shared)
    ) AS marked
) AS placed
