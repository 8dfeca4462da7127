"""A large synthetic log to mine: distinct texts, words as frequent as in a language, sessions of one to eight turns."""

import duckdb

from ingest.log_store import LogStore

TURNS_OF_A_BLOCK = 40
"""Interactions come in blocks of twelve sessions; ask for whole blocks."""
_SESSION_LENGTHS = (1, 3, 1, 5, 2, 1, 8, 4, 1, 7, 2, 5)
_BATCH = 400_000
USERS = 400_000
SENTENCES = 40_000
PASSAGES = 20_000

_COMMON_TEXT = """
invoice payment refund card account password plan price export report user role access login code email phone
bank transfer receipt tax country address delivery order cancel change update limit error message screen button page
file upload download import contact support hour day week month year company team member owner admin discount
charity school trial period start end date time zone number balance statement currency exchange fee charge top
budget project task calendar device app version browser backup restore delete archive search filter sort print
template signature customer supplier product stock shipping return warranty repair contract notice salary payslip
"""
_SYLLABLES = (
    "ba con der el fi gra hom in jo kel lu mer nor os per qui ran sto tur ul ven wil xi yor za pre ment tion ble er"
)
_OPENINGS = (
    "how do i",
    "what is the",
    "can i",
    "where is the",
    "why does my",
    "is there a",
    "who can",
    "how long does it take to",
    "do you know if the",
    "when will my",
    "what happens to the",
    "i need to",
    "could you tell me about the",
    "is it possible to",
    "what about the",
    "please help me with the",
    "which",
    "does the",
    "my",
    "are there any",
)
_LINKS = ("for my", "of the", "with a", "and", "on the", "in", "to the", "from a", "when the", "after the")
_DECLINES = (
    "I am sorry, but I could not find an answer to that in the documents.",
    "I don't have enough information to answer this question.",
    "Unfortunately, the provided documents do not mention the %.",
    "I couldn't find anything about the % in our handbook. Please contact support.",
    "I\u2019m sorry, but I can\u2019t help with that request.",
    "The context does not contain any details about the %.",
    "I cannot share personal data of other customers.",
)
_CORRECTIONS = ("no, i meant ", "sorry, i mean ", "that is not what i asked. ", "i was asking about ", "are you sure? ")
_COMPLAINTS = ("that does not help", "this is wrong", "you did not answer my question", "can i talk to a human")

_DRAW = """
CREATE OR REPLACE TEMP MACRO draw(a) AS (hash(a) >> 1)::BIGINT, (a, b) AS (hash(a, b) >> 1)::BIGINT,
    (a, b, c) AS (hash(a, b, c) >> 1)::BIGINT
"""
_POOLS = f"""
CREATE OR REPLACE TEMP TABLE pools AS
WITH
common AS (SELECT $common::VARCHAR[] AS w),
made AS (
    SELECT list_transform(range(24000), lambda i: array_to_string(list_transform(range(2 + draw(i) % 3),
        lambda k: $syllables[1 + (draw(i, k) % {len(_SYLLABLES.split())})::BIGINT]), '')) AS w
),
words AS (SELECT list_concat(common.w, made.w) AS w FROM common, made),
sentences AS (
    SELECT list(concat(
        upper(s[1]), s[2:], CASE WHEN draw(i, 77) % 40 = 0 THEN ' but you cannot change it here' END, '.')) AS s
    FROM (
        SELECT i, array_to_string(list_transform(range(4 + draw(i, 99) % 4), lambda k: concat(
            w[floor(pow(len(w), (draw(i, k) % 1000000) / 1e6))::BIGINT], ' ',
            $links[1 + draw(i, k, 1) % len($links)])), ' ') AS s
        FROM range({SENTENCES}) AS r(i), words
    )
)
SELECT w AS word, s AS sentence, $openings::VARCHAR[] AS opening, $links::VARCHAR[] AS link,
    $declines::VARCHAR[] AS decline, $corrections::VARCHAR[] AS correction, $complaints::VARCHAR[] AS complaint
FROM words, sentences
"""  # noqa: S608 - our own numbers
_PLACES = """
CREATE OR REPLACE TEMP TABLE places AS
SELECT row_number() OVER () - 1 AS place, session, turn
FROM (SELECT unnest($lengths::INT[]) AS turns, unnest(range(len($lengths))) AS session), range(8) AS t(turn)
WHERE turn < turns ORDER BY session, turn
"""
# An answer is made of sentences of one of the three passages retrieved for it.
# A content word as frequent as its rank says; three in ten of a question are of the session's topic.
_MACROS = f"""
CREATE OR REPLACE TEMP MACRO passage_of(interaction_id, rank) AS draw(interaction_id, rank) % {PASSAGES};
CREATE OR REPLACE TEMP MACRO zipf(word, seed) AS
    word[floor(pow(len(word), (draw(seed) % 1000000) / 1e6))::BIGINT];
CREATE OR REPLACE TEMP MACRO content(word, session, i, k) AS
    CASE WHEN draw(i, k, 5) % 10 < 3 THEN zipf(word, draw(session, draw(i, k, 6) % 6)) ELSE zipf(word, draw(i, k)) END;
CREATE OR REPLACE TEMP MACRO ask(p, session, i, manner) AS concat_ws(' ',
    p.opening[1 + draw(manner, 1) % len(p.opening)], content(p.word, session, i, 1),
    CASE WHEN draw(i, 2) % 3 > 0 THEN content(p.word, session, i, 2) END,
    p.link[1 + draw(manner, 3) % len(p.link)], content(p.word, session, i, 4),
    CASE WHEN draw(i, 5) % 2 = 0 THEN p.link[1 + draw(manner, 6) % len(p.link)] END,
    CASE WHEN draw(i, 5) % 2 = 0 THEN content(p.word, session, i, 7) END);
"""
# One turn in eight that follows another takes it up again: restated, reworded, repeated or corrected.
_ROWS = """
INSERT INTO interactions BY NAME
WITH numbered AS (
    SELECT
        i,
        concat('bench:', md5(i::VARCHAR)) AS interaction_id,
        i // 40 * 12 + p.session AS session,
        p.turn,
        CASE WHEN p.turn > 0 AND draw(i, 50) % 8 = 0 THEN draw(i, 51) % 20 ELSE 99 END AS manner
    FROM range($first, $last) AS r(i) JOIN places AS p ON p.place = i % 40
),
owned AS (
    -- One session in 25 is the return of the user who had the one before, minutes later.
    SELECT *, draw(session, 60) % 25 = 0 AND session % 12 > 0 AS returns,
        CASE WHEN returns THEN session - 1 ELSE session END AS visit
    FROM numbered
),
asked AS (
    SELECT o.*, p,
        CASE WHEN manner < 99 OR (returns AND turn = 0) THEN i - 1 ELSE i END AS need,
        ask(p, session, need, CASE WHEN manner BETWEEN 9 AND 15 THEN i ELSE need END) AS words
    FROM owned AS o, pools AS p
)
SELECT
    interaction_id,
    'bench' AS source,
    concat('s-', substr(md5(concat('s', session)), 1, 16)) AS session_id,
    concat('u-', substr(md5(concat('u', draw(visit) % $users)), 1, 16)) AS user_id,
    TIMESTAMPTZ '2026-01-01 00:00:00+00' + to_seconds(
        visit // 120000 * 360000 + (draw(visit, 61) % 360000)::BIGINT + turn * 45
        + (draw(i, 62) % 40)::BIGINT + CASE WHEN returns THEN 400 ELSE 0 END) AS asked_at,
    concat(
        CASE WHEN draw(i, 52) % 90 = 0 AND turn > 0
            THEN concat(p.complaint[1 + draw(i, 53) % len(p.complaint)], ', ')
            WHEN manner >= 17 AND manner < 99 THEN p.correction[1 + draw(i, 53) % len(p.correction)] END,
        words,
        CASE WHEN manner < 7 THEN concat(' ', p.link[1 + draw(i, 3) % len(p.link)], ' ', zipf(p.word, i)) END,
        CASE WHEN draw(need, 54) % 2 = 0 THEN '?' END) AS question,
    CASE WHEN draw(i, 11) % 25 = 0
            THEN replace(p.decline[1 + draw(i, 12) % len(p.decline)], '%',
                concat(zipf(p.word, i), ' ', zipf(p.word, -i)))
        WHEN draw(i, 12) % 200 = 0 THEN ''
        ELSE array_to_string(list_transform(range(3 + draw(i, 19) % 3), lambda k:
            p.sentence[1 + draw(passage_of(interaction_id, draw(i, 70) % 3), draw(i, k + 20) % 8) % len(p.sentence)]),
            ' ') END AS answer,
    CASE WHEN draw(i, 13) % 40 = 0 THEN -1 WHEN draw(i, 13) % 40 < 4 THEN 1 END AS feedback,
    concat('model-', draw(i, 14) % 3) AS model,
    400 + draw(i, 15) % 1500 + CASE WHEN draw(i, 16) % 300 = 0 THEN 20000 ELSE 0 END AS latency_ms,
    0.001 + (draw(i, 17) % 1000) / 1e6 AS cost,
    CASE WHEN draw(i, 18) % 250 = 0 THEN 'TimeoutError' END AS error,
    '' AS content_hash,
    $ingest_id AS ingest_id,
    i + 1 AS number
FROM asked
ORDER BY asked_at
"""
_LINKS_OF_ROWS = """
INSERT INTO retrieved_passages
SELECT number, rank, passage_of(interaction_id, rank), NULL
FROM interactions, range(3) AS r(rank) WHERE ingest_id = $ingest_id
"""
_PASSAGES = f"""
INSERT INTO passages BY NAME
SELECT i AS passage, i AS digest, concat('c-', i) AS chunk_id, concat('h-', i) AS text_hash
FROM range({PASSAGES}) AS r(i)
"""  # noqa: S608 - our own number
_TEXTS = f"""
INSERT INTO chunk_texts
SELECT concat('h-', i), array_to_string(list_transform(range(8), lambda k:
    p.sentence[1 + draw(i, k) % len(p.sentence)]), ' ')
FROM range({PASSAGES}) AS r(i), pools AS p
"""  # noqa: S608 - our own numbers


def build(store: LogStore, first: int, last: int, *, ingest_id: int) -> None:
    """Add the interactions `first` to `last`, in the order of their time within every 400,000."""
    with store.unit() as connection:
        connection.execute("SET memory_limit = '4GB'")
        _prepare(connection)
        for start in range(first, last, _BATCH):
            connection.execute(
                _ROWS,
                {"first": start, "last": min(last, start + _BATCH), "ingest_id": ingest_id, "users": USERS},
            )
        connection.execute(_LINKS_OF_ROWS, {"ingest_id": ingest_id})
        if first == 0:
            connection.execute(_PASSAGES)
            connection.execute(_TEXTS)


def _prepare(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(_DRAW)
    connection.execute(
        _POOLS,
        {
            "common": _COMMON_TEXT.split(),
            "syllables": _SYLLABLES.split(),
            "openings": list(_OPENINGS),
            "links": list(_LINKS),
            "declines": list(_DECLINES),
            "corrections": list(_CORRECTIONS),
            "complaints": list(_COMPLAINTS),
        },
    )
    connection.execute(_PLACES, {"lengths": list(_SESSION_LENGTHS)})
    connection.execute(_MACROS)
