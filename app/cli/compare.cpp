// SPDX-License-Identifier: Apache-2.0
// `tw compare`: sessions of a workspace against each other.
#include <algorithm>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/comparison_report.h"
#include "app/cli/workspace.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct CompareArguments {
  std::string db, race;
  std::vector<int> sessions;
  ComparisonFiles files;
};

/// Those that were asked for; else those of the newest race; else all that searched.
Expected<std::vector<db::SessionRow>> chosen_sessions(const CompareArguments& o, db::Database& db) {
  TW_TRY(std::vector<db::SessionRow> rows, db.sessions());
  if (!o.sessions.empty()) {
    std::vector<db::SessionRow> chosen;
    for (const int id : o.sessions) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const db::SessionRow& r) { return r.id.value == id; });
      if (row == rows.end()) return Error(ErrorCode::not_found, fmt::format("Expected session {}, found none", id), db.path());
      chosen.push_back(*row);
    }
    return chosen;
  }
  std::erase_if(rows, [](const db::SessionRow& row) { return row.tuner == db::kImported || row.trials == 0; });
  std::string race = o.race;
  for (const db::SessionRow& row : rows)
    if (o.race.empty() && !logs::race_of(row).empty()) race = logs::race_of(row);
  if (race.empty()) return rows;
  std::erase_if(rows, [&](const db::SessionRow& row) { return logs::race_of(row) != race; });
  if (rows.empty()) return Error(ErrorCode::not_found, fmt::format("Expected sessions of the race '{}', found none", printable(race)), db.path());
  if (o.race.empty()) note(fmt::format("Sessions of the newest race, '{}'", printable(race)));
  return rows;
}

int compare(const CompareArguments& o) {
  std::error_code ec;
  if (!std::filesystem::exists(o.db, ec)) return fail_input(Error(ErrorCode::not_found, "Expected a database, found none", o.db));
  const auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  auto rows = chosen_sessions(o, **db);
  if (!rows) return fail_input(rows.error());
  if (const std::string left_out = logs::keep_comparable(*rows); !left_out.empty()) note(left_out + ", --session names those that are meant");
  if (rows->size() < 2) return fail_input(Error(ErrorCode::not_found, fmt::format("Expected two sessions or more, found {}", rows->size()), o.db));
  const auto comparison = logs::compare_sessions(**db, std::move(*rows), stop_token());
  if (!comparison) return fail_input(comparison.error());
  say_damage();
  return report_comparison(*comparison, o.files);
}

}  // namespace

void add_compare(Subcommand app, Run& run) {
  auto o = std::make_shared<CompareArguments>();
  Subcommand sub = app.command(run, "compare", "Which tuner is better, how surely, and how soon: sessions of a database against each other", o, compare);
  sub.option("db", o->db, "Database with the sessions").required().input();
  sub.option("--session", o->sessions, "Numbers of the sessions; without, those of the newest race, or all");
  sub.option("--race", o->race, "Name of the race whose sessions are meant");
  add_comparison_files(sub, o->files);
}

}  // namespace tw::cli
