-- Several users asked the same in the same words, and none of these answers did.
SELECT
    n.line,
    '' AS kind,
    least(1.0, round(a.users / 10.0, 3)) AS score,
    concat(cast(a.users AS string), ' users asked this ', cast(a.times AS string), ' times without a good answer.')
        AS reason,
    true AS is_weak,
    '' AS evidence_id
FROM needs AS n
JOIN (
    SELECT f.need, count(DISTINCT f.asker) AS users, count(*) AS times
    FROM needs AS f
    WHERE f.need IN (SELECT need FROM needs GROUP BY need HAVING count(*) >= :frequent_users)
    GROUP BY f.need
    HAVING count(DISTINCT f.asker) >= :frequent_users
) AS a ON a.need = n.need
