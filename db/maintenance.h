// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "engine/base/stop_token.h"

/// Looking after workspaces: whether all is as it was written, mending what is not, copies, and what lies in them. Files that are damaged so that nothing else
/// opens them are taken too.
namespace tw::db {

/// Something that is not as it should be.
struct Problem {
  DamagedRow row;      ///< without a table: the file's structure
  std::string where;   ///< for people: `trial 7 of session 2, task fused_dense`
  std::string reason;  ///< one sentence
};
struct CheckReport {
  std::vector<Problem> problems;
  int64_t trials = 0, tasks = 0, sessions = 0;  ///< that are whole

  bool sound() const { return problems.empty(); }
};
/// Reads everything: the structure, each row against its checksum, texts, references, and what tasks and sessions say of their trials. May run beside
/// a writer. Errors: not_found, io_error, parse_error, version, cancelled; damage is no error.
Expected<CheckReport> check_workspace(const std::string& path, const StopToken& stop);

/// What a merge brought.
struct MergeReport {
  int64_t models = 0, tasks = 0, sessions = 0, trials = 0;  ///< that were not there
  int64_t there = 0;                                        ///< trials that were
  int64_t damaged = 0;                                      ///< trials that were left out
};
/// Adds to a workspace what another one has and it has not, in one transaction. Sessions are the same if they began at the same time with the same tuner; their
/// points are stored once. Errors: those of Database::open.
Expected<MergeReport> merge_workspace(const std::string& into, const std::string& from);

struct RepairReport {
  CheckReport before;
  std::vector<std::string> steps;  ///< what was done, in sentences
  std::string kept;                ///< the file as it was; empty if nothing was wrong
  int64_t removed = 0;             ///< damaged rows
  int64_t restored = 0;            ///< trials that came from backups
  CheckReport after;
};
/// The ladder: the log of SQLite is applied; damaged rows are removed and indices built anew; where the structure is damaged, every row that can still be read
/// goes to a new file; then backups, `backups` or those beside the file, give what is missing. A copy of the file as it was stays beside it.
/// Errors: infrastructure if another process writes to it; corrupt if nothing can be read and no backup is there; io_error, no_space.
Expected<RepairReport> repair_workspace(const std::string& path, const std::vector<std::string>& backups, const StopToken& stop);

/// A verified copy: to `to`, or beside the workspace as the hourly ones. Returns its name.
Expected<std::string> back_up_workspace(const std::string& path, const std::string& to);

/// Gives unused space back to the disk. Returns bytes before and after.
struct VacuumReport {
  int64_t bytes_before = 0, bytes_after = 0;
};
Expected<VacuumReport> vacuum_workspace(const std::string& path);

struct WorkspaceStats {
  int format = 0;  ///< version of the file format
  int64_t bytes = 0, log_bytes = 0, unused_bytes = 0;
  struct Table {
    std::string name;
    int64_t rows = 0, bytes = 0;  ///< with its indices
  };
  std::vector<Table> tables;
  std::vector<std::string> backups;  ///< newest first
};
Expected<WorkspaceStats> workspace_stats(const std::string& path);

}  // namespace tw::db
