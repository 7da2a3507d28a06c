-- SPDX-License-Identifier: Apache-2.0
-- What the times of a session are: measured here, by a formula (simulated), those of trials that were recorded before (replayed), or what a log says (claimed).
-- A task counts its whole trials by kind, so that one kind's best is never taken for another's; the writer keeps both as 0001 says.
ALTER TABLE session ADD COLUMN kind TEXT NOT NULL DEFAULT 'measured' CHECK(kind IN ('measured', 'simulated', 'replayed', 'claimed'));
UPDATE session SET kind = CASE
  WHEN tuner = 'import' THEN 'claimed'
  WHEN NOT json_valid(options_json) OR NOT json_valid(host_json) THEN 'measured'
  WHEN json_extract(options_json, '$.device') LIKE 'recorded:%' THEN 'replayed'
  WHEN coalesce(json_extract(options_json, '$.device'), json_extract(host_json, '$.device')) LIKE 'sim:%' THEN 'simulated'
  WHEN coalesce(json_extract(options_json, '$.device'), json_extract(host_json, '$.device')) IS NULL AND target LIKE 'cuda%' THEN 'simulated'
  ELSE 'measured' END;

CREATE TABLE task_count(
  task_id INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  trials INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  best_s REAL,
  unverified_s REAL,
  default_s REAL,
  PRIMARY KEY(task_id, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO task_count
  SELECT task_id, kind, count(*), sum(status <> 'ok'),
    min(CASE WHEN status = 'ok' AND censored = 0 AND verified = 1 AND kind <> 'claimed' AND coalesce(final_s, seconds) < 9e999 THEN coalesce(final_s, seconds) END),
    min(CASE WHEN status = 'ok' AND censored = 0 AND NOT (verified = 1 AND kind <> 'claimed') THEN seconds END),
    min(CASE WHEN status = 'ok' AND censored = 0 AND verified = 1 AND kind <> 'claimed' AND space = 'default' THEN seconds END)
  FROM trial JOIN session ON session.id = session_id
  WHERE checksum = row_checksum(trial.id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash)
  GROUP BY task_id, kind;
ALTER TABLE task DROP COLUMN trials;
ALTER TABLE task DROP COLUMN failures;
ALTER TABLE task DROP COLUMN best_s;
ALTER TABLE task DROP COLUMN default_s;
ALTER TABLE task DROP COLUMN unverified_s;
