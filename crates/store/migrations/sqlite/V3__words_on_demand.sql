-- The index of words is brought up to date when someone looks for words: a commit
-- writes what was said and nothing else.

-- The first event of a session that is not indexed yet.
ALTER TABLE sessions ADD COLUMN next_indexed INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET next_indexed = coalesce(fork_seq, 0);

-- Words come as they are to be found: the tokenizer only cuts at the spaces between them,
-- where unicode61 would cut and fold letters of many scripts once more.
DROP TABLE event_words;
CREATE VIRTUAL TABLE event_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'ascii'
);

-- Requests under one key, as events are, so that noting one writes to one tree.
CREATE TABLE noted_requests (
    id          INTEGER PRIMARY KEY,           -- the session's number times 2^32 plus `no`
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    model       TEXT    NOT NULL,
    vendor      TEXT    NOT NULL,
    hash        BLOB    NOT NULL,              -- BLAKE3 of the whole body
    len         INTEGER NOT NULL,
    whole       INTEGER NOT NULL,
    prefix      INTEGER NOT NULL,
    suffix      INTEGER NOT NULL,
    since_whole INTEGER NOT NULL,
    middle      BLOB    NOT NULL,
    report      TEXT    NOT NULL,
    usage       TEXT
) STRICT;

INSERT INTO noted_requests
    SELECT (session << 32) + no, seq, at, model, vendor, hash, len, whole, prefix, suffix,
           since_whole, middle, report, usage
    FROM requests;
DROP TABLE requests;
ALTER TABLE noted_requests RENAME TO requests;
