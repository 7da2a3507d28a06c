-- SPDX-License-Identifier: Apache-2.0
-- A task's default schedule has the time of the session that holds the task's best, so that both are of one machine's speed: asked of the trials instead of
-- kept with every batch. Few trials are of the default schedule.
CREATE INDEX trial_default ON trial(task_id) WHERE space = 'default';
-- Which session holds the best is asked for every task at once, of workspaces with a million trials.
CREATE INDEX trial_by_time ON trial(task_id, coalesce(final_s, seconds)) WHERE status = 'ok' AND verified = 1 AND censored = 0;
ALTER TABLE task_count DROP COLUMN default_s;
