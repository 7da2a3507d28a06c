-- SPDX-License-Identifier: Apache-2.0
-- Times are Unix seconds unless the column says otherwise; enumerations are stored by their stable names.
CREATE TABLE model(
  id INTEGER PRIMARY KEY,
  content_key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  summary_json TEXT NOT NULL,
  imported_s REAL NOT NULL
) STRICT;

-- The counters and best times are kept by the writer with every batch of trials.
CREATE TABLE task(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  dag_text TEXT NOT NULL,
  flops INTEGER NOT NULL,
  trials INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  best_s REAL,
  default_s REAL
) STRICT;

CREATE TABLE model_task(
  model_id INTEGER NOT NULL REFERENCES model(id),
  task_id INTEGER NOT NULL REFERENCES task(id),
  weight INTEGER NOT NULL,
  PRIMARY KEY(model_id, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  model_id INTEGER NOT NULL REFERENCES model(id),
  tuner TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('running', 'done', 'cancelled', 'interrupted')),
  options_json TEXT NOT NULL,
  host_json TEXT NOT NULL,
  code_version TEXT NOT NULL,
  started_s REAL NOT NULL,
  ended_s REAL NOT NULL DEFAULT 0,
  trials INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_of_model ON session(model_id);

-- A point is its index in the config space, or without one (-1) the hash of its steps. A session measures a point of a task once.
CREATE TABLE trial(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session(id),
  task_id INTEGER NOT NULL REFERENCES task(id),
  number INTEGER NOT NULL,
  space TEXT NOT NULL,
  config_index INTEGER NOT NULL,
  steps_hash INTEGER NOT NULL,
  config_json TEXT NOT NULL,
  steps_json TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  seconds REAL,
  flagged INTEGER NOT NULL,
  inner_runs INTEGER NOT NULL,
  censored INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  max_rel_error REAL NOT NULL,
  build_s REAL NOT NULL,
  load_s REAL NOT NULL,
  run_s REAL NOT NULL,
  timestamp_s REAL NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE(session_id, task_id, number),
  UNIQUE(session_id, task_id, config_index, steps_hash)
) STRICT;
CREATE INDEX trial_best ON trial(task_id, seconds) WHERE status = 'ok' AND verified = 1 AND censored = 0;
CREATE INDEX trial_of_task ON trial(task_id);

-- All raw samples of a trial: 64-bit checksum, count, doubles, one flag byte each; little endian.
CREATE TABLE sample(
  trial_id INTEGER PRIMARY KEY REFERENCES trial(id),
  data BLOB NOT NULL
) STRICT;

CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session(id),
  at_s REAL NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX event_of_session ON event(session_id);

-- The key is the content key of the raw bytes; data is one zstd frame.
CREATE TABLE artifact(
  key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  raw_bytes INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
