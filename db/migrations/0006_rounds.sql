-- SPDX-License-Identifier: Apache-2.0
-- Rounds of a session, numbered from 1: which task the scheduler chose and why (decision_json), and where the session stood at the round's end. A task's trials lie
-- in the order of its rounds. Times in seconds; best_s and network_s are NULL while they are not known. spent_s is the round's wall time; elapsed_s and
-- measured_s are the session's work so far, and what of it was measuring.
CREATE TABLE round(
  session_id INTEGER NOT NULL REFERENCES session(id),
  number INTEGER NOT NULL,
  task_id INTEGER NOT NULL REFERENCES task(id),
  planned INTEGER NOT NULL,
  trials INTEGER NOT NULL,
  session_trials INTEGER NOT NULL,
  decision_json TEXT NOT NULL,
  best_s REAL,
  network_s REAL,
  search_s REAL NOT NULL,
  build_s REAL NOT NULL,
  measure_s REAL NOT NULL,
  spent_s REAL NOT NULL,
  elapsed_s REAL NOT NULL,
  measured_s REAL NOT NULL,
  PRIMARY KEY(session_id, number)
) STRICT, WITHOUT ROWID;

-- Which cost model said `predicted`; NULL where none was asked.
ALTER TABLE trial ADD COLUMN predicted_by TEXT;
