-- Sessions and their events.

CREATE TABLE sessions (
    no       INTEGER PRIMARY KEY,
    id       BLOB    NOT NULL UNIQUE,          -- 16 bytes of a UUID
    title    TEXT    NOT NULL,
    agent    TEXT,
    parent   INTEGER REFERENCES sessions (no), -- of a fork
    fork_seq INTEGER,                          -- its first event that is its own
    created  INTEGER NOT NULL,                 -- microseconds since 1970
    changed  INTEGER NOT NULL,
    next_seq INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_change ON sessions (changed, id);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- The key is the session's number times 2^32 plus the sequence number: a session's
-- events lie side by side, in order, and need no second index.
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL                   -- JSON, byte for byte as it was written
) STRICT;

-- Under the same key, without a copy of the text.
CREATE VIRTUAL TABLE event_words USING fts5 (
    words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
