-- SPDX-License-Identifier: Apache-2.0
-- Nothing was ever stored by its content.
DROP TABLE IF EXISTS artifact;
-- Files that were brought to format 10 before that had this index lack it, and what asks for it by name fails.
CREATE INDEX IF NOT EXISTS trial_by_time ON trial(task_id, coalesce(final_s, seconds)) WHERE status = 'ok' AND verified = 1 AND censored = 0;
