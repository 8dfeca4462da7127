-- Several users asked the same in the same words, and none of these answers did.
SELECT
    n.interaction_id,
    n.source,
    n.session_key,
    '' AS kind,
    least(1.0, round(a.users / 10.0, 3)) AS score,
    concat(cast(a.users AS string), ' users asked this ', cast(a.times AS string), ' times without a good answer.')
        AS reason,
    true AS is_weak,
    '' AS evidence_id
FROM needs AS n
JOIN (
    SELECT f.source, f.need, count(DISTINCT f.user_id) AS users, count(*) AS times
    FROM needs AS f
    JOIN (SELECT source, need FROM needs GROUP BY source, need HAVING count(*) >= :frequent_users) AS asked
        ON asked.source = f.source AND asked.need = f.need
    GROUP BY f.source, f.need
    HAVING count(DISTINCT f.user_id) >= :frequent_users
) AS a ON a.source = n.source AND a.need = n.need
