-- What is usual for each model, to call a turn slow or costly against.
SELECT
    source,
    coalesce(model, '') AS model,
    median(latency_ms) AS latency_ms,
    median(cost) AS cost
FROM all_logs
GROUP BY source, coalesce(model, '')
