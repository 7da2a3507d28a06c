-- SPDX-License-Identifier: Apache-2.0
-- What won alone, tried inside a network: one row each time, after a session or, without one, by itself. Times are of the network as it ran, in seconds, and of the
-- sums over its kernels alone; ratio is tuned / default with its 95 % interval, of what was tried last if nothing was taken.
CREATE TABLE network_final(
  id INTEGER PRIMARY KEY,
  model_id INTEGER NOT NULL REFERENCES model(id),
  session_id INTEGER REFERENCES session(id),
  target TEXT NOT NULL,
  at_s REAL NOT NULL,
  default_s REAL NOT NULL,
  tuned_s REAL NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  default_estimate_s REAL NOT NULL,
  tuned_estimate_s REAL NOT NULL
) STRICT;
CREATE INDEX network_final_of_model ON network_final(model_id);

-- What became of a trial: its kernel's time in its place / that of the default schedule there, with its interval, infinite if its results are wrong; default_s is
-- the default schedule's time alone. The last row of a point and a model decides whether the network is compiled with it.
CREATE TABLE network_verdict(
  final_id INTEGER NOT NULL REFERENCES network_final(id),
  trial_id INTEGER NOT NULL REFERENCES trial(id),
  taken INTEGER NOT NULL,
  standing TEXT NOT NULL,
  ratio REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  default_s REAL NOT NULL,
  PRIMARY KEY(final_id, trial_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX network_verdict_of_trial ON network_verdict(trial_id);

-- Where the constants were while a trial was timed: cold (in memory) or warm (in the caches); NULL for trials from before this was kept.
ALTER TABLE trial ADD COLUMN weights TEXT;
