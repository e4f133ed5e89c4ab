-- Checksums of what is beside the events. Rows that are older have none.

ALTER TABLE sessions ADD COLUMN sum INTEGER;       -- over title, agent and time of creation
ALTER TABLE sessions ADD COLUMN fork_sum INTEGER;  -- over parent and point of fork
ALTER TABLE records  ADD COLUMN sum INTEGER;
ALTER TABLE requests ADD COLUMN usage_sum INTEGER;

-- The counters change with every commit, and this in the same statement: a sum of them with
-- odd factors, so that no bit of one flips without a difference.
ALTER TABLE sessions ADD COLUMN tally INTEGER;
UPDATE sessions SET tally = next_seq + 1000003 * next_record + 998244353 * next_request;
