// SPDX-License-Identifier: Apache-2.0
// `tw db`: looking after databases.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "db/bundle.h"
#include "db/maintenance.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct DbArguments {
  std::string db, output;
  std::vector<std::string> others;
  std::vector<int> sessions;
  bool json = false;
};

Json problems_json(const db::CheckReport& report) {
  Json list = Json::array();
  for (const db::Problem& p : report.problems) list.push_back({{"table", p.row.table}, {"id", p.row.id}, {"where", p.where}, {"reason", p.reason}});
  return list;
}

std::string whole_text(const db::CheckReport& r) {
  return fmt::format("{} trials of {} sessions and {} tasks are whole", r.trials, r.sessions, r.tasks);
}

int check(const DbArguments& o) {
  const auto report = db::check_workspace(o.db, stop_token());
  if (!report) return fail_input(report.error());
  if (o.json) {
    print_json({{"sound", report->sound()},
                {"trials", report->trials},
                {"sessions", report->sessions},
                {"tasks", report->tasks},
                {"problems", problems_json(*report)}});
  } else {
    for (const db::Problem& p : report->problems) print("{}: {}\n", p.where, printable(p.reason));
    print("{}{}\n", whole_text(*report), report->sound() ? "" : fmt::format("; {} problems, which `tw db repair` mends", report->problems.size()));
  }
  return report->sound() ? kDone : kFailed;
}

int repair(const DbArguments& o) {
  const auto report = db::repair_workspace(o.db, o.others, stop_token());
  if (!report) return fail_input(report.error());
  if (o.json) {
    print_json({{"problems", problems_json(report->before)},
                {"steps", report->steps},
                {"kept", report->kept},
                {"removed", report->removed},
                {"restored", report->restored},
                {"sound", report->after.sound()},
                {"trials", report->after.trials}});
  } else {
    if (report->before.sound()) print("Nothing is damaged\n");
    for (const std::string& step : report->steps) print("{}\n", step);
    if (!report->kept.empty()) print("The file as it was is '{}'\n", printable(report->kept));
    print("{}\n", whole_text(report->after));
    for (const db::Problem& p : report->after.problems) print("Still damaged: {}: {}\n", p.where, printable(p.reason));
  }
  return report->after.sound() ? kDone : kFailed;
}

int back_up(const DbArguments& o) {
  const auto name = db::back_up_workspace(o.db, o.output);
  if (!name) return name.error().code == ErrorCode::invalid_argument ? fail(name.error()) : fail_input(name.error());
  if (o.json)
    print_json({{"backup", *name}});
  else
    print("{}\n", printable(*name));
  return kDone;
}

int merge(const DbArguments& o) {
  Json list = Json::array();
  for (const std::string& other : o.others) {
    const auto report = db::merge_workspace(o.db, other);
    if (!report) return report.error().code == ErrorCode::invalid_argument ? fail(report.error()) : fail_input(report.error());
    list.push_back({{"file", other},
                    {"trials", report->trials},
                    {"there", report->there},
                    {"damaged", report->damaged},
                    {"sessions", report->sessions},
                    {"tasks", report->tasks},
                    {"models", report->models}});
    if (!o.json)
      print("{}: {} trials of {} new sessions, {} tasks and {} models added; {} trials were there already; {} damaged ones left out\n", printable(other),
            report->trials, report->sessions, report->tasks, report->models, report->there, report->damaged);
  }
  if (o.json) print_json({{"merged", list}});
  return kDone;
}

int pack(const DbArguments& o) {
  std::vector<SessionId> sessions;
  for (const int id : o.sessions) sessions.push_back(SessionId{id});
  const auto report = db::pack_bundle(o.db, sessions, o.output);
  if (!report) return report.error().code == ErrorCode::invalid_argument ? fail(report.error()) : fail_input(report.error());
  if (o.json)
    print_json({{"bundle", o.output}, {"sessions", report->sessions}, {"trials", report->trials}, {"bytes", report->bytes}});
  else
    print("{}: {} sessions with {} trials, {}\n", printable(o.output), report->sessions, report->trials, si_text(static_cast<double>(report->bytes), "B"));
  return kDone;
}

int unpack(const DbArguments& o) {
  const auto done = db::unpack_bundle(o.db, o.output);
  if (!done) return done.error().code == ErrorCode::invalid_argument ? fail(done.error()) : fail_input(done.error());
  if (o.json)
    print_json({{"workspace", o.output}});
  else
    print("{}\n", printable(o.output));
  return kDone;
}

std::string bytes_text(int64_t bytes) { return si_text(static_cast<double>(bytes), "B"); }

int vacuum(const DbArguments& o) {
  const auto report = db::vacuum_workspace(o.db);
  if (!report) return fail_input(report.error());
  if (o.json)
    print_json({{"bytes_before", report->bytes_before}, {"bytes_after", report->bytes_after}});
  else
    print("{} before, {} now\n", bytes_text(report->bytes_before), bytes_text(report->bytes_after));
  return kDone;
}

int stats(const DbArguments& o) {
  const auto stats = db::workspace_stats(o.db);
  if (!stats) return fail_input(stats.error());
  Json tables = Json::array();
  Table table({"table", ">rows", ">size"});
  for (const auto& t : stats->tables) {
    tables.push_back({{"name", t.name}, {"rows", t.rows}, {"bytes", t.bytes}});
    table.row({t.name, std::to_string(t.rows), bytes_text(t.bytes)});
  }
  if (o.json) {
    print_json({{"format", stats->format},
                {"bytes", stats->bytes},
                {"log_bytes", stats->log_bytes},
                {"unused_bytes", stats->unused_bytes},
                {"tables", tables},
                {"backups", stats->backups}});
    return kDone;
  }
  put(table.text());
  print("\nFormat {}; {} and {} of log, {} of it unused\n", stats->format, bytes_text(stats->bytes), bytes_text(stats->log_bytes),
        bytes_text(stats->unused_bytes));
  for (const std::string& backup : stats->backups) print("Backup: {}\n", printable(backup));
  return kDone;
}

Subcommand add_one(Subcommand& app, Run& run, const char* name, const char* help, const std::shared_ptr<DbArguments>& o, int (*work)(const DbArguments&)) {
  Subcommand sub = app.command(run, name, help, o, work);
  sub.option("db", o->db, "Database").required();
  sub.flag("--json", o->json, "One JSON document on standard output");
  return sub;
}

}  // namespace

void add_db(Subcommand app, Run& run) {
  Subcommand db = app.group("db", "Checks, repairs, backs up and merges databases");
  add_one(db, run, "check", "Reads everything and names what is damaged; exit code 1 if anything is", std::make_shared<DbArguments>(), check);
  auto r = std::make_shared<DbArguments>();
  add_one(db, run, "repair", "Removes damaged rows, or takes what can be read to a new file, and restores what backups have; keeps the file as it was", r,
          repair)
      .option("--backup", r->others, "Backup to restore from; the newest beside the database if absent; may be repeated");
  auto b = std::make_shared<DbArguments>();
  add_one(db, run, "backup", "Writes a copy that is looked through, also while another program writes", b, back_up)
      .option("file", b->output, "Name of the copy, which must be new; NAME.backup-TIME if absent, of which five stay");
  auto m = std::make_shared<DbArguments>();
  add_one(db, run, "merge", "Adds what other databases have and this one has not", m, merge).option("others", m->others, "Databases to add").required();
  auto p = std::make_shared<DbArguments>();
  Subcommand packing = add_one(db, run, "pack", "Sessions as one compressed file, a bundle, that any `tw` and workbench reads as it is", p, pack);
  packing.option("--session", p->sessions, "Session to take; all if absent; may be repeated");
  packing.option("-o,--output", p->output, "The bundle, such as race.twz").required();
  auto u = std::make_shared<DbArguments>();
  add_one(db, run, "unpack", "Makes a workspace of a bundle, to write to", u, unpack).option("file", u->output, "The workspace, which must be new").required();
  add_one(db, run, "vacuum", "Gives unused space back to the disk", std::make_shared<DbArguments>(), vacuum);
  add_one(db, run, "stats", "What takes the space, and which backups there are", std::make_shared<DbArguments>(), stats);
}

}  // namespace tw::cli
