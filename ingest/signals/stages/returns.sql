-- Who soon asked again in a new session: the last question of the one before and the first of the next.
WITH paired AS (
    SELECT
        *,
        folded <> next_folded AND regexp_like(next_folded, :corrected) AS is_corrected,
        rephrase(folded, next_folded) AS pair
    FROM crossings
    WHERE folded <> '' AND next_folded <> ''
)
SELECT
    line,
    interaction_id,
    source,
    session_id AS session_key,
    session,
    substr(md5(concat(:seed, interaction_id)), 9, 12) AS lot,
    asked_us,
    substr(question, 1, 300) AS question,
    next_id,
    substr(next_question, 1, 300) AS next_question,
    next_us,
    CASE WHEN is_corrected THEN 'corrected' ELSE pair.kind END AS pair_kind,
    CASE WHEN is_corrected THEN 0.8 ELSE pair.score END AS pair_score
FROM paired
WHERE is_corrected OR pair.kind IS NOT NULL
