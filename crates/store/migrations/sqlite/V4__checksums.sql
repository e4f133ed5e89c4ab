-- A checksum (XXH3, 64 bit) over the columns that never change; none in rows that are older.

ALTER TABLE events ADD COLUMN sum INTEGER;
ALTER TABLE requests ADD COLUMN sum INTEGER;
