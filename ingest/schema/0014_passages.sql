-- What is retrieved is mostly the same few passages over and over: each is kept once, and what an interaction retrieved
-- is narrow. `retrieved` gives both together; an interaction's id stands beside its number in `interactions` alone.
CREATE TABLE passages (
    passage   BIGINT NOT NULL,                 -- its number; unique
    digest    UHUGEINT NOT NULL,               -- MD5 of all that follows as a JSON list; unique, looked for with every group
    chunk_id  VARCHAR NOT NULL,
    doc_id    VARCHAR,
    text_hash VARCHAR,                         -- of the text as logged; NULL when the log holds no text
    stage     VARCHAR,
    id_origin VARCHAR
);
INSERT INTO passages
SELECT row_number() OVER (), md5_number(CAST(to_json([chunk_id, doc_id, text_hash, stage, id_origin]) AS VARCHAR)), *
FROM (SELECT DISTINCT chunk_id, doc_id, text_hash, stage, id_origin FROM retrieved);

CREATE TABLE retrieved_passages (
    number  BIGINT NOT NULL,                   -- of the interaction
    rank    INTEGER NOT NULL,
    passage BIGINT NOT NULL,
    score   DOUBLE
);
INSERT INTO retrieved_passages
SELECT r.number, r.rank, p.passage, r.score
FROM retrieved AS r JOIN passages AS p ON p.chunk_id = r.chunk_id
    AND p.doc_id IS NOT DISTINCT FROM r.doc_id AND p.text_hash IS NOT DISTINCT FROM r.text_hash
    AND p.stage IS NOT DISTINCT FROM r.stage AND p.id_origin IS NOT DISTINCT FROM r.id_origin
ORDER BY r.number, r.rank;
DROP TABLE retrieved;

CREATE VIEW retrieved AS
SELECT r.number, r.rank, p.chunk_id, p.doc_id, p.text_hash, r.score, p.stage, p.id_origin
FROM retrieved_passages AS r JOIN passages AS p USING (passage);
