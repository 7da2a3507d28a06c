// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "engine/records/autotvm_json.h"
#include "engine/records/json_lines.h"
#include "engine/records/record_sink.h"

namespace tw::records {

/// What a log holds. Bad lines never stop the reading: each is listed with its reason and its kind: "too_long", "cut_off", "not_json", "pickled",
/// "protocol" (another version), "other_format" (Ansor's) or "malformed" (JSON whose keys or types are not a record's).
struct AutotvmLog {
  std::vector<AutotvmRecord> records;
  std::vector<LineProblem> problems;
  int64_t lines = 0;     ///< all, comments and empty ones included
  int64_t comments = 0;  ///< lines starting with '#'
};
AutotvmLog read_autotvm(std::string_view text);
/// Errors: not_found, io_error.
Expected<AutotvmLog> read_autotvm_file(const std::string& path);

/// The first line of a log that holds lines of other logs, with its newline: so it is known as ours.
std::string gathered_comment(const std::string& what);
/// A log that this program wrote whole: lines with our key, or that comment before them.
extern const FileKind kOurLog;

/// The comment before the first line of a task whose times are simulated, with its newline. Readers of such logs skip comments.
std::string simulated_comment(const Task& task);

/// Appends each stored batch to a log file, one line per trial; `simulated`: with that comment. Errors of opening: io_error, not_found.
Expected<std::unique_ptr<RecordSink>> autotvm_log_sink(const std::string& path, bool simulated = false);

/// Stores into both, first into `first`; its error keeps the records from `second`.
std::unique_ptr<RecordSink> tee_sink(RecordSink& first, RecordSink& second);

/// Stores into `inner` until it fails for the first time, which `failed` is told, and nothing afterwards: for what goes beside, and must not end a session.
std::unique_ptr<RecordSink> lenient_sink(RecordSink& inner, std::function<void(const Error&)> failed);

}  // namespace tw::records
