-- What a session keeps beside its events, and the requests that were sent from it.

ALTER TABLE sessions ADD COLUMN next_record  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN fork_record  INTEGER;
ALTER TABLE sessions ADD COLUMN next_request INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET fork_record = 0 WHERE parent IS NOT NULL;

-- Append-only: the row with the highest number is the record; without a body it is gone.
CREATE TABLE records (
    session INTEGER NOT NULL REFERENCES sessions (no),
    kind    TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    no      INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT,
    PRIMARY KEY (session, kind, key, no)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    session     INTEGER NOT NULL REFERENCES sessions (no),
    no          INTEGER NOT NULL,
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
    usage       TEXT,
    PRIMARY KEY (session, no)
) STRICT;
