-- SPDX-License-Identifier: Apache-2.0
-- The fastest trials of a task run against each other in the end. final_s is a time on the scale of `seconds`, infinite for who failed there; low and high are
-- the 95 % interval of the time divided by that of the trial that was fastest before.
ALTER TABLE trial ADD COLUMN final_s REAL;
ALTER TABLE trial ADD COLUMN final_low REAL;
ALTER TABLE trial ADD COLUMN final_high REAL;
DROP INDEX trial_best;
CREATE INDEX trial_best ON trial(task_id, coalesce(final_s, seconds)) WHERE status = 'ok' AND verified = 1 AND censored = 0;
