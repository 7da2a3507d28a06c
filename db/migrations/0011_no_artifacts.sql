-- SPDX-License-Identifier: Apache-2.0
-- Nothing was ever stored by its content.
DROP TABLE IF EXISTS artifact;
