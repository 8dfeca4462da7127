-- The spans of traces that came side by side are packed together, which takes a third of the room: their texts repeat.
-- Where place is 0, payload holds those of all traces of the pack, and of no others; where it is more, it is empty.
-- Of a trace with a payload of its own, pack, place and size are NULL. See ingest.trace_packs.
ALTER TABLE traces ADD COLUMN pack BIGINT;
ALTER TABLE traces ADD COLUMN place INTEGER;    -- where its text begins in that of the pack
ALTER TABLE traces ADD COLUMN size INTEGER;     -- how many bytes it has
ALTER TABLE traces ADD COLUMN digest UBIGINT;   -- XXH3 of the text; NULL when it has to be compared
