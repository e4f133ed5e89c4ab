-- Checksums of what is beside the events. Rows that are older have none.

ALTER TABLE interleaf.sessions ADD COLUMN sum bigint;       -- over title, agent and time of creation
ALTER TABLE interleaf.sessions ADD COLUMN fork_sum bigint;  -- over parent and point of fork
ALTER TABLE interleaf.records ADD COLUMN sum bigint;
ALTER TABLE interleaf.requests ADD COLUMN usage_sum bigint;

-- The counters change with every commit, and this in the same statement: a sum of them with
-- odd factors, so that no bit of one flips without a difference.
ALTER TABLE interleaf.sessions ADD COLUMN tally bigint;
UPDATE interleaf.sessions SET tally = next_seq + 1000003 * next_record + 998244353 * next_request;
