-- What each run of mining tells anew of the whole queue: it is read from here, so no session is written again for it.
ALTER TABLE candidates ADD COLUMN inclusion_probability DOUBLE;
ALTER TABLE candidates ADD COLUMN group_first_at TIMESTAMPTZ;
ALTER TABLE candidates ADD COLUMN group_last_at TIMESTAMPTZ;

-- Text in JSON has its quotes escaped, so none can look like one of these names. JSON functions refuse lone surrogates.
UPDATE candidates AS c SET
    inclusion_probability = regexp_extract(s.body, '"inclusion_probability":\s*([^,}]+)', 1)::DOUBLE,
    group_first_at = nullif(regexp_extract(s.body, '"group_first_at":\s*"([^"]+)"', 1), '')::TIMESTAMPTZ,
    group_last_at = nullif(regexp_extract(s.body, '"group_last_at":\s*"([^"]+)"', 1), '')::TIMESTAMPTZ
FROM candidate_sessions AS s WHERE s.candidate_id = c.candidate_id;

ALTER TABLE candidate_sessions ADD COLUMN digest VARCHAR;  -- of the body; NULL where it was written before there was one

-- Which run of mining the candidates stand as, and what else it looked at: the next one hands over what changed since.
CREATE TABLE review_state (
    name  VARCHAR PRIMARY KEY,
    value VARCHAR NOT NULL
);
