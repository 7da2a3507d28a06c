-- SPDX-License-Identifier: Apache-2.0
-- A time with constants in caches says little about one without. A task counts its whole trials by where the constants were as well ('cold', 'warm', '' where that
-- is not known), and a network says of each of its tasks where it has them ('' until the network is imported again).
ALTER TABLE model_task ADD COLUMN weights TEXT NOT NULL DEFAULT '' CHECK(weights IN ('', 'cold', 'warm'));
DROP TABLE task_count;
CREATE TABLE task_count(
  task_id INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL,
  weights TEXT NOT NULL,
  trials INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  best_s REAL,
  unverified_s REAL,
  PRIMARY KEY(task_id, kind, weights)
) STRICT, WITHOUT ROWID;
INSERT INTO task_count
  SELECT task_id, kind, coalesce(weights, ''), count(*), sum(status <> 'ok'),
    min(CASE WHEN status = 'ok' AND censored = 0 AND verified = 1 AND kind <> 'claimed' AND coalesce(final_s, seconds) < 9e999 THEN coalesce(final_s, seconds) END),
    min(CASE WHEN status = 'ok' AND censored = 0 AND NOT (verified = 1 AND kind <> 'claimed') THEN seconds END)
  FROM trial JOIN session ON session.id = session_id
  WHERE checksum = row_checksum(trial.id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash, fill_s, verify_s)
  GROUP BY task_id, kind, coalesce(weights, '');
