// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "db/database.h"
#include "engine/base/stop_token.h"
#include "engine/records/json_lines.h"
#include "engine/target/target.h"

namespace tw::logs {

enum class LogFormat { autotvm, ansor };
const char* format_name(LogFormat format);
/// By the first line that is a record; AutoTVM's if there is none among the first 1000 lines. Errors: not_found, io_error.
Expected<LogFormat> sniff_log(const std::string& path);

/// One task in a log.
struct LogTask {
  std::string name, target;  ///< as the log calls them
  int64_t records = 0, failures = 0;
  bool computable = false;  ///< its points can be lowered here
};

/// What a log holds.
struct LogContent {
  LogFormat format = LogFormat::autotvm;
  int64_t lines = 0, comments = 0;
  std::vector<LogTask> tasks;                  ///< in the order in which they first appear
  std::vector<records::LineProblem> problems;  ///< lines of no use, ascending as far as known
};

struct ImportOptions {
  ModelId model;                   ///< whose session it becomes; none: the model that has one of the tasks, else one that stands for the log
  const Target* target = nullptr;  ///< for tasks that follow from a line's arguments; null: such lines are foreign
  bool foreign = true;             ///< lines without a computation are stored too; else they are problems (`unknown_task`)
  Json host;                       ///< for the sessions
};

/// Counts while importing; may be read from any thread.
struct ImportProgress {
  std::atomic<int64_t> records = 0;  ///< in the log, known once it was read
  std::atomic<int64_t> stored = 0;
};

struct ImportedLog {
  LogContent content;
  ModelId model;
  std::vector<SessionId> sessions;
  int64_t stored = 0, failures = 0;
};

/// Reads a log without storing anything. Errors: those of sniff_log; cancelled.
Expected<LogContent> preview_log(db::Database& db, const std::string& path, const ImportOptions& options, StopToken stop);
/// Stores a log's trials, one session for each space. What was stored before a stop stays, and its session is marked cancelled. Errors: those of sniff_log and
/// of the database; cancelled.
Expected<ImportedLog> import_log(db::Database& db, const std::string& path, const ImportOptions& options, StopToken stop, ImportProgress& progress);

}  // namespace tw::logs
