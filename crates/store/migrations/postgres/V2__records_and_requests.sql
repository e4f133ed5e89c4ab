-- What a session keeps beside its events, and the requests that were sent from it.

ALTER TABLE interleaf.sessions
    ADD COLUMN next_record  bigint NOT NULL DEFAULT 0,
    ADD COLUMN fork_record  bigint,
    ADD COLUMN next_request bigint NOT NULL DEFAULT 0;
UPDATE interleaf.sessions SET fork_record = 0 WHERE parent IS NOT NULL;

-- Append-only: the row with the highest number is the record; without a body it is gone.
CREATE TABLE interleaf.records (
    session uuid   NOT NULL,
    kind    text   NOT NULL,
    key     text   NOT NULL,
    no      bigint NOT NULL,
    seq     bigint NOT NULL,
    at      bigint NOT NULL,
    body    text,
    PRIMARY KEY (session, kind, key, no)
);

CREATE TABLE interleaf.requests (
    session     uuid    NOT NULL,
    no          bigint  NOT NULL,
    seq         bigint  NOT NULL,
    at          bigint  NOT NULL,
    model       text    NOT NULL,
    vendor      text    NOT NULL,
    hash        bytea   NOT NULL,                       -- BLAKE3 of the whole body
    len         bigint  NOT NULL,
    whole       boolean NOT NULL,
    prefix      bigint  NOT NULL,
    suffix      bigint  NOT NULL,
    since_whole bigint  NOT NULL,
    middle      bytea   NOT NULL,
    report      text    NOT NULL,
    usage       text,
    PRIMARY KEY (session, no)
);
