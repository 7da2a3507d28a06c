// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <limits>

#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/workspace.h"
#include "app/logs/page.h"
#include "app/logs/session_page.h"
#include "db/database.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {


struct ReportArguments {
  std::string db, output, task;
  int session = 0, trial = 0;
};

/// The task whose key begins with a text, or the one that has trials of the session.
Expected<db::TaskRow> chosen_task(db::Database& db, const ReportArguments& o, SessionId session) {
  TW_TRY(const auto tasks, db.tasks());
  TW_TRY(const auto bests, db.bests({session}));
  std::vector<db::TaskRow> fits;
  for (const db::TaskRow& task : tasks)
    for (const db::BestRow& best : bests)
      if (best.task == task.id && task.key.starts_with(o.task)) fits.push_back(task);
  if (fits.size() == 1) return fits.front();
  return Error(ErrorCode::not_found, fmt::format("Expected one task of session {} whose key begins with '{}', found {}", session.value, printable(o.task), fits.size()));
}

int report(const ReportArguments& o) {
  std::error_code ec;
  if (!std::filesystem::exists(o.db, ec)) return fail_input(Error(ErrorCode::not_found, "Expected a database, found none", o.db));
  const auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto sessions = (*db)->sessions();
  if (!sessions) return fail_input(sessions.error());
  if (sessions->empty()) return fail_input(Error(ErrorCode::not_found, "Expected a session, found none", o.db));
  const SessionId session = o.session > 0 ? SessionId{o.session} : sessions->back().id;
  auto page = [&]() -> Expected<std::string> {
    if (o.trial == 0) return logs::session_page(**db, session, {});
    TW_TRY(const db::TaskRow task, chosen_task(**db, o, session));
    return logs::trial_page(**db, session, task.id, o.trial);
  }();
  if (!page) return fail_input(page.error());
  say_damage();
  if (auto written = write_file(o.output, logs::kWebPage, *page); !written) return fail(written.error());
  print("{}\n", printable(o.output));
  return kDone;
}

}  // namespace

void add_report(Subcommand app, Run& run) {
  auto o = std::make_shared<ReportArguments>();
  Subcommand sub = app.command(run, "report", "A session, or one trial with its code, as a web page that needs no other file; of a race: tw compare --html", o, report);
  sub.option("db", o->db, "Database or bundle").required().input();
  sub.option("-o,--output", o->output, "The page").required().output(logs::kWebPage);
  sub.option("--session", o->session, "Number of the session; the newest if absent").range(1, std::numeric_limits<int>::max());
  sub.option("--trial", o->trial, "Number of the trial that is told of instead of the session").range(1, std::numeric_limits<int>::max());
  sub.option("--task", o->task, "Beginning of the key of its task; may be absent where the session tried one task");
}

}  // namespace tw::cli
