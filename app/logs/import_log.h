// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "db/database.h"
#include "engine/base/stop_token.h"
#include "engine/records/json_lines.h"
#include "engine/target/target.h"

namespace tw::logs {

enum class LogFormat { autotvm, ansor, meta_schedule };
const char* format_name(LogFormat format);
/// By the first line that is a record; AutoTVM's if there is none among the first 1000 lines.
LogFormat sniff_log(std::string_view text);

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

/// A task of a log with its trials, each point once.
struct LoggedTask {
  records::Task task;  ///< without a dag if its points cannot be lowered here
  std::string target;  ///< as the log calls it
  std::vector<records::Record> records;
};

/// A log that was read, with what store_log() needs of it.
struct Log {
  std::string path;
  LogContent content;
  std::vector<LoggedTask> tasks;  ///< those of `content`
};

/// Counts while importing; may be read from any thread.
struct ImportProgress {
  std::atomic<int64_t> records = 0;  ///< in the log
  std::atomic<int64_t> stored = 0;  ///< or found to be there
};

struct ImportedLog {
  LogContent content;
  ModelId model;
  std::vector<SessionId> sessions;  ///< none for spaces of which nothing was new
  int64_t stored = 0, failures = 0;
  int64_t there = 0;  ///< trials that the workspace had as they are
};

/// Reads a log without storing anything; its lines belong to the workspace's tasks where they have the same computation. Errors: not_found, io_error,
/// cancelled.
Expected<Log> read_log(db::Database& db, const std::string& path, const ImportOptions& options, const StopToken& stop);
/// Stores a log's trials that are new, one session for each space: a log that comes again, or whose import was cut off, gives what is missing. What was stored before a stop stays, and its session is marked cancelled. Errors: those of the database.
Expected<ImportedLog> store_log(db::Database& db, Log log, const ImportOptions& options, const StopToken& stop, ImportProgress& progress);

}  // namespace tw::logs
