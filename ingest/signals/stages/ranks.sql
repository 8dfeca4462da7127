-- How high each flagged interaction stands by its weighted signals, and which of them weighs most: `found` holds the hits.
-- Rounded, so that it does not depend on their order; NULL where only signals without a weight flagged it.
SELECT r.line, r.session, r.lot, r.raised, s.signal AS sampling_signal, r.signals, r.weak_signals
FROM (
    SELECT
        h.line,
        max(h.session) AS session,
        max(h.lot) AS lot,
        round(1 - exp(sum(CASE WHEN w.weight > 0
            THEN ln(1 - least(cast(0.999 AS double), h.score * w.weight)) END)), 6) AS raised,
        max(CASE WHEN w.weight > 0
            THEN cast(round(h.score * w.weight * 1000000) AS bigint) * 64 + 63 - w.place END) AS strongest,
        bit_or(w.bit) AS signals,
        bit_or(CASE WHEN h.is_weak THEN w.bit ELSE cast(0 AS bigint) END) AS weak_signals
    FROM found AS h
    JOIN weights AS w ON w.signal = h.signal
    GROUP BY h.line
) AS r
LEFT JOIN weights AS s ON s.place = 63 - r.strongest % 64
