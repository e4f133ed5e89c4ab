-- Rows that are older than checksums say so with -1, so that a checksum that is gone is not
-- taken for one that never was. Every counter has its tally already.

UPDATE events SET sum = -1 WHERE sum IS NULL;
UPDATE requests SET sum = -1 WHERE sum IS NULL;
UPDATE records SET sum = -1 WHERE sum IS NULL;
UPDATE sessions SET sum = -1 WHERE sum IS NULL;
UPDATE sessions SET fork_sum = -1 WHERE fork_sum IS NULL;
UPDATE requests SET usage_sum = -1 WHERE usage_sum IS NULL AND usage IS NOT NULL;
