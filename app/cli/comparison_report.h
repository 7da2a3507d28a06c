// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "db/comparison.h"

namespace tw::cli {

/// Where a comparison goes besides standard output.
struct ComparisonFiles {
  std::string markdown, csv, svg, html;
  bool json = false;  ///< one document on standard output instead of the tables
};
void add_comparison_files(Subcommand sub, ComparisonFiles& files);

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

  std::vector<db::ComparedTask> compared() const;
};
/// Reads the trials of the sessions. `rows` are of one kind. Errors: those of the database.
Expected<SessionComparison> compare_sessions(db::Database& db, std::vector<db::SessionRow> rows);

/// Prints it and writes the files. Returns the exit code.
int report_comparison(const SessionComparison& comparison, const ComparisonFiles& files);

}  // namespace tw::cli
