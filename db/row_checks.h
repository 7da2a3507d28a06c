// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <set>
#include <string>
#include <vector>

#include "db/database.h"

/// Whether rows are as they were written. A trial's checksum covers all of its columns and the checksum of its samples. It is a function of SQL, so that every
/// query asks for whole rows and gets no others:
///
///     row_checksum(VALUE...)              64-bit XXH3 of the values in their order: texts and blobs after their length, numbers as 8 bytes, NULL as -1
///     whole(TABLE, ID, CHECKSUM, VALUE...)  whether they have that checksum; if not, the row is noted as damaged
///     samples_fit(BLOB)                   whether samples match the checksum in front of them, which was all that files of format 7 had
namespace tw::db {

/// Damaged rows that a connection has met.
class Damage {
 public:
  void add(DamagedRow row);
  /// How many, but no more than are kept.
  size_t count() const { return rows_.size(); }
  std::vector<DamagedRow> rows() const { return {rows_.begin(), rows_.end()}; }

 private:
  std::set<DamagedRow> rows_;
};

/// Gives the connection the functions; whole() notes what is damaged in `damage`, which lives longer.
void add_row_checks(SQLite::Database& connection, Damage& damage);

/// The expression that is true for whole rows of `trial`, under whatever name a query calls the table. It is the last condition of a query: where `column = 2`
/// stands among the conditions, SQLite reads 2 for the column in all of them, so a row that the later ones would leave out is not what was summed up.
std::string whole_trial(const std::string& trial = "trial");
/// The same for their samples, `sample.data` of a row joined on the left.
std::string whole_samples(const std::string& trial = "trial");

/// The statement that stores a new trial with its checksums. `columns`: all that the checksum covers but those that are made here, separated by commas, in the
/// order of their parameters; the packed samples are the parameter after them, for the checksums only.
std::string insert_of_trial(std::string_view columns);

/// Gives trials that are stored their checksums and those of their samples. `which`: a condition on columns of trial.
void sum_up_trials(SQLite::Database& connection, const std::string& which);

}  // namespace tw::db
