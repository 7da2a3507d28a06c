-- SPDX-License-Identifier: Apache-2.0
-- What the tuner's cost model said of a trial before it was measured: a score, higher is better, and how many trials the model had learned from, which tells
-- models apart. NULL where no model was asked.
ALTER TABLE trial ADD COLUMN predicted REAL;
ALTER TABLE trial ADD COLUMN predicted_after INTEGER;
