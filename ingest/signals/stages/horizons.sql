-- The newest believable activity of each source: what lies in the future of the clock is skew and counts for nothing.
SELECT
    source,
    max(CASE WHEN unix_micros(asked_at) <= :now_us THEN unix_micros(asked_at) END) AS horizon_us
FROM all_logs
GROUP BY source
