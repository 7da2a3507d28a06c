-- SPDX-License-Identifier: Apache-2.0
-- What a person notes about anything; measurements are never touched. noun names what it is about by stable keys:
-- model:CONTENT_KEY, node:CONTENT_KEY/NAME, task:KEY, session:ID, trial:SESSION/TASK_KEY/NUMBER. tags_json is an array of texts.
CREATE TABLE mark(
  noun TEXT PRIMARY KEY,
  note TEXT NOT NULL,
  tags_json TEXT NOT NULL,
  changed_s REAL NOT NULL
) STRICT, WITHOUT ROWID;
