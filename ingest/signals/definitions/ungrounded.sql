-- Little of the answer, or a figure in it, stands in the retrieved text; compared on a sample when the log is large.
SELECT
    line,
    interaction_id,
    source,
    session_key,
    session,
    lot,
    CASE WHEN share < :ungrounded_below THEN 'words' ELSE 'figure' END AS kind,
    CASE WHEN share < :ungrounded_below THEN round(1 - share, 3) ELSE 0.5 END AS score,
    CASE WHEN share < :ungrounded_below
        THEN concat('Only ', cast(cast(round(100 * share) AS bigint) AS string),
            '% of the words of the answer stand in the retrieved text.')
        ELSE concat('The figure ', figure, ' in the answer stands nowhere in the retrieved text.') END AS reason,
    share >= :ungrounded_below AS is_weak,
    '' AS evidence_id
FROM support
WHERE share < :ungrounded_below OR figure IS NOT NULL
