-- SPDX-License-Identifier: Apache-2.0
-- A trial's checksum covers all of its columns, and through samples_checksum its samples. Rows that did not match the narrower checksum of earlier versions, and
-- rows whose samples do not match theirs, stay recognisable as damaged: they get no checksum that fits. row_checksum and
-- samples_fit are functions of the program (row_checks.h).
-- record_hash tells the record of a trial apart from others of its task, wherever it was stored: point, outcome, samples and time.
ALTER TABLE trial ADD COLUMN samples_checksum INTEGER;
ALTER TABLE trial ADD COLUMN record_hash INTEGER;
CREATE INDEX trial_of_record ON trial(task_id, record_hash);
UPDATE trial SET samples_checksum = (SELECT row_checksum(data) FROM sample WHERE trial_id = trial.id AND samples_fit(data)),
  record_hash = (SELECT row_checksum(space, config_index, steps_hash, status, timestamp_s, data) FROM sample WHERE trial_id = trial.id);
UPDATE trial SET checksum = CASE
  WHEN samples_checksum IS NOT NULL AND checksum = row_checksum(space, config_json, steps_json, status, message, config_index, flagged, inner_runs, censored,
    verified, coalesce(seconds, 0.0), max_rel_error, build_s, load_s, run_s, timestamp_s)
  THEN row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash)
  ELSE ~row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash)
  END;
