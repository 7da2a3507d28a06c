// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "db/database.h"
#include "engine/base/stop_token.h"
#include "engine/records/recorded_trials.h"
#include "engine/records/task.h"

/// Spaces of which every point was measured, or many: small files that searches run against instead of a machine.
namespace tw::logs {

/// What a file of a recorded space ends in.
inline constexpr const char* kSpaceFile = ".twspace";
/// Names one that comes with the program, where a model or a file of a space is asked for: `space:matmul-znver5`.
inline constexpr std::string_view kSpaceByName = "space:";

/// A task, the name of one of its spaces, and a trial of each point that was measured.
struct RecordedSpace {
  std::string name;
  std::string where;   ///< what measured it and when, for people
  std::string text;    ///< of the computation (te/source.h)
  bool opaque = false; ///< of another program's kernel: knobs are known, loops are not, and the text computes nothing
  records::Task task;
  std::string space;   ///< of the task's templates
  int64_t size = 0;    ///< points, measured or not
  std::vector<records::Record> records;  ///< the default schedule's too, where it is what it was
};

/// Reads a space of ours, the plainer form of a list of knobs with a time for each point, or a cache file of Kernel Tuner (its versions with and without
/// schema_version; one that is still being written, too). Which one it is, its keys say.
/// Units: Kernel Tuner's times are milliseconds; times of 1e20 and texts in their place are failures.
/// Errors: parse_error; invalid_argument for points that no value of their knobs gives; version for a template whose knobs have changed since; not_found.
Expected<RecordedSpace> read_recorded_space(const std::string& file);

/// Whether a file looks like one that read_recorded_space takes. Nothing is said of what cannot be read.
bool is_recorded_space(const std::string& file);

/// A space of the workspace as a file's text: the newest trial of each point of a task, replays left out, times with four digits.
/// Errors: not_found if the workspace has no trial of it; those of reading.
Expected<std::string> recorded_space_text(db::Database& db, const db::TaskRow& task, const std::string& space, const std::string& name);

/// Enters a space into a workspace: a model of its name, the task, and one session, with the steps of every point. Errors: those of the database; cancelled.
struct EnteredSpace {
  ModelId model;
  SessionId session;  ///< none if it was there
  int64_t stored = 0, failures = 0;
};
Expected<EnteredSpace> enter_recorded_space(db::Database& db, const RecordedSpace& space, const Json& host, const StopToken& stop);

/// What a device `recorded:FILE` answers from: a workspace, a recorded space, or a log of another program whose lines belong to the tasks. `db` knows the tasks.
/// Errors: not_found if nothing in it is of one of the tasks; those of reading.
Expected<std::shared_ptr<const records::RecordedTrials>> trials_in_file(db::Database& db, const std::string& file, const std::vector<records::Task>& tasks,
                                                                         const StopToken& stop);

/// The file that a person means: of `space:NAME` the one that comes with the program, `../share/tilewright/spaces` beside it; others as they stand.
/// Errors: not_found, naming those that there are.
Expected<std::string> space_file(const std::string& given);
/// Names of those that come with the program, in the alphabet's order.
std::vector<std::string> bundled_spaces();

}  // namespace tw::logs
