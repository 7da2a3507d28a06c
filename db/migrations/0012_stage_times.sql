-- SPDX-License-Identifier: Apache-2.0
-- Filling the arguments of a trial and comparing its result with the reference have times of their own; 0: not known, as of all trials before. Comparing is a part
-- of run_s. Both are columns that the checksum covers: rows that were whole get one that does, rows that were damaged get none that fits.
ALTER TABLE trial ADD COLUMN fill_s REAL NOT NULL DEFAULT 0.0;
ALTER TABLE trial ADD COLUMN verify_s REAL NOT NULL DEFAULT 0.0;
UPDATE trial SET checksum = CASE
  WHEN checksum = row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash)
  THEN row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash, fill_s, verify_s)
  ELSE ~row_checksum(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored,
    verified, max_rel_error, build_s, load_s, run_s, timestamp_s, final_s, final_low, final_high, predicted, predicted_after, predicted_by, weights, samples_checksum,
    record_hash, fill_s, verify_s)
  END;
