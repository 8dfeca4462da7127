-- The spans of traces that came side by side are packed together, which takes a third of the room: their texts repeat.
CREATE TABLE trace_packs (
    pack    BIGINT NOT NULL,
    content BLOB NOT NULL USING COMPRESSION uncompressed  -- the payloads of its traces and of no others, see ingest.trace_packs
);
-- Of a trace in a pack the payload is empty; of one with a payload of its own, pack, place and size are NULL.
ALTER TABLE traces ADD COLUMN pack BIGINT;
ALTER TABLE traces ADD COLUMN place INTEGER;    -- where its text begins in that of the pack
ALTER TABLE traces ADD COLUMN size INTEGER;     -- how many bytes it has
ALTER TABLE traces ADD COLUMN digest UBIGINT;   -- XXH3 of the text; NULL when it has to be compared
