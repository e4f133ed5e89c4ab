-- A checksum (XXH3, 64 bit) over the columns that never change; none in rows that are older.

ALTER TABLE interleaf.events ADD COLUMN sum bigint;
ALTER TABLE interleaf.requests ADD COLUMN sum bigint;
