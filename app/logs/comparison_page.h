// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/comparison.h"
#include "engine/base/stop_token.h"

namespace tw::logs {

/// The race that a session is part of; empty for none.
std::string race_of(const db::SessionRow& row);

/// Sessions against each other, with what there is to tell of each task.
struct SessionComparison {
  struct Task {
    db::ComparedTask task;
    std::vector<db::GroupCurves> groups;
    std::vector<db::GroupProgress> progress;
  };
  std::vector<db::ComparedSession> sessions;
  std::vector<Task> tasks;  ///< that a session tried, heaviest first where they are of one network
  db::TimeKind kind = db::TimeKind::measured;
  std::string target;

  std::vector<db::ComparedTask> compared() const;
};
/// Leaves the kind and the target of most sessions: a simulated time says nothing against a measured one. Returns what was left out, as a sentence; empty if nothing.
std::string keep_comparable(std::vector<db::SessionRow>& rows);
/// Reads the trials of the sessions. `rows` are of one kind and target. Errors: cancelled, those of the database.
Expected<SessionComparison> compare_sessions(db::Database& db, std::vector<db::SessionRow> rows, StopToken stop);

/// Each of what is said of all of it; the answer comes first but for what the times are.
std::vector<std::string> comparison_sentences(const SessionComparison& comparison, const db::TimeText& time);
/// What each group came to on a task, a row each below the row of titles; a title that begins with '>' is one of numbers.
std::vector<std::vector<std::string>> progress_cells(const std::vector<db::GroupProgress>& rows, const db::TimeText& time);
/// What the columns of progress_cells are.
inline constexpr const char* kProgressNote =
    "Trials and time are medians of what it took to come to a share of the best known speed; area: mean over the trials of best known time / best so far, 1 at most.";
/// The curves of all tasks as one picture.
std::string comparison_svg(const SessionComparison& comparison);
/// All of it as one web page that needs no other file. `tw compare`, `tw race` and the window write it.
std::string comparison_page(const SessionComparison& comparison);

}  // namespace tw::logs
