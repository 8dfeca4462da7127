-- Each user's part of each session: from it a run over a little more of the log knows where a session begins, and what else
-- its users began about then, without a look at all rows. The next run of mining fills the table.
DELETE FROM mining_state;

CREATE TABLE mined_visits (
    session    UBIGINT NOT NULL USING COMPRESSION uncompressed,  -- a hash of source and session
    visitor    UBIGINT USING COMPRESSION uncompressed,           -- a hash of source and user
    first_line BIGINT NOT NULL,                                  -- none of its turns has a lower number
    first_us   BIGINT,
    last_us    BIGINT
);
