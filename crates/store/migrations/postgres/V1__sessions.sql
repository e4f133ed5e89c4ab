-- Sessions and their events.

CREATE TABLE interleaf.sessions (
    id       uuid   PRIMARY KEY,
    title    text   NOT NULL,
    agent    text,
    parent   uuid   REFERENCES interleaf.sessions (id), -- of a fork
    fork_seq bigint,                                    -- its first event that is its own
    created  bigint NOT NULL,                           -- microseconds since 1970
    changed  bigint NOT NULL,
    next_seq bigint NOT NULL
);

CREATE INDEX sessions_by_change ON interleaf.sessions (changed, id);
CREATE INDEX sessions_by_parent ON interleaf.sessions (parent) WHERE parent IS NOT NULL;

-- The session comes first in every key, so that the tables can be split by it.
CREATE TABLE interleaf.events (
    session uuid   NOT NULL,
    seq     bigint NOT NULL,
    at      bigint NOT NULL,
    version int    NOT NULL,
    body    text   NOT NULL,                            -- JSON, byte for byte as it was written
    words   tsvector,
    PRIMARY KEY (session, seq)
);

CREATE INDEX events_by_words ON interleaf.events USING gin (words);
