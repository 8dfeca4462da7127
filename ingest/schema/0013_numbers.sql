-- Each interaction has a number, kept for good and about as it came: what it retrieved, and what is found in it, is
-- looked for by this number in next to no time, where looking through the ids of a large table takes seconds.
CREATE SEQUENCE numbering;
ALTER TABLE interactions ADD COLUMN number BIGINT DEFAULT nextval('numbering');
ALTER TABLE interactions ALTER COLUMN number DROP DEFAULT;
DROP SEQUENCE numbering;

CREATE TABLE numbered_retrieved (
    interaction_id VARCHAR NOT NULL,
    rank           INTEGER NOT NULL,
    chunk_id       VARCHAR NOT NULL,
    doc_id         VARCHAR,
    text_hash      VARCHAR,
    score          DOUBLE,
    stage          VARCHAR,
    id_origin      VARCHAR,
    number         BIGINT NOT NULL             -- of the interaction
);
INSERT INTO numbered_retrieved BY NAME SELECT r.*, i.number FROM retrieved AS r JOIN interactions AS i USING (interaction_id);
DROP TABLE retrieved;
ALTER TABLE numbered_retrieved RENAME TO retrieved;
