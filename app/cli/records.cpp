// SPDX-License-Identifier: Apache-2.0
// `tw records`: trials in and out of a database as AutoTVM's JSON lines.
#include "app/cli/records.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "db/recorded.h"
#include "db/session_workspace.h"
#include "engine/api/ansor_trials.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_log.h"
#include "engine/records/best.h"
#include "engine/records/round_trials.h"

namespace tw::cli {
namespace {

/// Lines to the file, or to standard output when there is none.
Expected<void> put_lines(const std::string& path, const std::string& lines) {
  if (!path.empty()) return write_file(path, records::kOurLog, lines);
  put(lines);
  return {};
}

Expected<void> check_session(const RecordsArguments& o, const std::vector<db::SessionRow>& sessions) {
  if (o.session == 0 || std::any_of(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id.value == o.session; })) return {};
  return Error(ErrorCode::not_found, fmt::format("Expected session {}, found none", o.session), o.db);
}

/// Errors: unsupported for steps that the form does not have.
Expected<std::string> line_of(const RecordsArguments& o, const records::Task& task, const records::Record& record) {
  if (o.format == "ansor") return api::ansor_line_of(task, record);
  return records::autotvm_line(records::to_autotvm(task, record));
}

Expected<void> export_lines(db::Database& db, const RecordsArguments& o, int64_t& count) {
  TW_TRY(const auto rows, db.tasks());
  TW_TRY(const auto sessions, db.sessions());
  TW_CHECK(check_session(o, sessions));
  std::set<SessionId> replays, simulated;
  for (const db::SessionRow& s : sessions) {
    if (s.kind == db::TimeKind::replayed) replays.insert(s.id);
    if (s.kind == db::TimeKind::simulated) simulated.insert(s.id);
  }
  std::string lines;
  for (const db::TaskRow& row : rows) {
    if (!matches(row, o.filters)) continue;
    if (row.dag_text.empty()) {
      note(fmt::format("skipped: '{}' is a task of another program, whose computation is not known", printable(row.name)));
      continue;
    }
    const auto task = db::readable_task(db, row);
    if (!task) continue;
    TW_TRY(auto trials, db.trials(o.session != 0 ? std::optional(SessionId{o.session}) : std::nullopt, row.id, {}, -1, true));
    if (o.session == 0) std::erase_if(trials, [&](const db::TrialRow& t) { return replays.contains(t.session); });  // they are there once already
    if (std::any_of(trials.begin(), trials.end(), [&](const db::TrialRow& t) { return simulated.contains(t.session); }))
      lines += records::simulated_comment(*task);
    int64_t other = 0;
    for (const db::TrialRow& t : trials) {
      const Expected<std::string> line = line_of(o, *task, t.record);
      if (line) lines += *line + "\n";
      other += !line;
    }
    count += static_cast<int64_t>(trials.size()) - other;
    if (other > 0) note(fmt::format("skipped: {} trials of '{}' have steps that TVM's records do not have", other, printable(row.name)));
  }
  return put_lines(o.file, lines);
}

int export_records(const RecordsArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  int64_t count = 0;
  if (auto r = export_lines(**db, o, count); !r) return r.error().code == ErrorCode::not_found ? fail_input(r.error()) : fail(r.error());
  note(fmt::format("{} records", count));
  return kDone;
}

int best_records(const RecordsArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto rows = (*db)->tasks();
  if (!rows) return fail(rows.error());
  std::string lines;
  Json list = Json::array();
  Table table({"task", "key", ">best", ">rate", "space", ">point", "time"});
  for (const db::TaskRow& row : *rows) {
    if (!matches(row, o.filters)) continue;
    const auto best = (*db)->best_of_kinds(row.key);
    if (!best) return fail(best.error());
    if (!*best) continue;
    const records::Record& record = (*best)->record;
    const double seconds = record.result.decided_s();
    const double rate = static_cast<double>(row.flops) / seconds;
    if (!row.dag_text.empty()) {
      const auto task = db::readable_task(**db, row);
      if (!task) continue;
      if ((*best)->kind == db::TimeKind::simulated) lines += records::simulated_comment(*task);
      if (const auto line = line_of(o, *task, record))
        lines += *line + "\n";
      else
        note(fmt::format("skipped: the best trial of '{}' has steps that TVM's records do not have", printable(row.name)));
    }
    list.push_back({{"task", row.name},
                    {"key", row.key},
                    {"best_s", seconds},
                    {"flop_per_s", rate},
                    {"space", record.candidate.space},
                    {"index", record.candidate.index},
                    {"claimed", record.claimed},
                    {"times", db::time_kind_name((*best)->kind)}});
    table.row({row.name, row.key.substr(0, 10), time_text(seconds), rate > 0 ? si_text(rate, "FLOP/s") : "-", record.candidate.space, std::to_string(record.candidate.index),
               db::time_kind_name((*best)->kind)});
  }
  if (!o.file.empty())
    if (auto r = put_lines(o.file, lines); !r) return fail(r.error());
  if (o.json)
    print_json({{"best", list}});
  else if (o.file.empty())
    put(table.text());
  return kDone;
}

/// What was said of a session's candidates before they were measured, beside what they then took; trials of which nothing was said are left out.
Expected<void> add_scores(db::Database& db, const RecordsArguments& o, const std::vector<db::TaskRow>& tasks, SessionId session, Table& table, Json& list) {
  TW_TRY(const auto rounds, db.rounds(session));
  const auto score_text = [](double score) { return std::isnan(score) ? std::string("-") : fmt::format("{:.4g}", score); };
  for (const db::TaskRow& row : tasks) {
    if (!matches(row, o.filters)) continue;
    const std::vector<records::RoundTrial> said = records::round_trials(rounds, row.key);
    TW_TRY(const auto outcomes, db.outcomes(session, row.id, 0, -1));
    for (const db::TrialOutcome& t : outcomes) {
      const auto of_round = static_cast<size_t>(t.number) <= said.size() ? said[static_cast<size_t>(t.number) - 1] : records::RoundTrial();
      const double score = t.prediction ? t.prediction->score : std::numeric_limits<double>::quiet_NaN();
      if (std::isnan(of_round.draft) && std::isnan(score)) continue;
      const bool ok = t.status == records::Status::ok;
      table.row({row.name, std::to_string(session.value), std::to_string(t.number), of_round.round > 0 ? std::to_string(of_round.round) : "-", score_text(of_round.draft), score_text(score),
                 ok ? (t.censored ? "over " : "") + time_text(t.seconds) : records::status_name(t.status)});
      list.push_back({{"task", row.name},
                      {"key", row.key},
                      {"session", session.value},
                      {"trial", t.number},
                      {"round", of_round.round > 0 ? Json(of_round.round) : Json()},
                      {"draft", json_number(of_round.draft)},
                      {"verified", json_number(score)},
                      {"model", t.prediction ? Json(t.prediction->model) : Json()},
                      {"status", records::status_name(t.status)},
                      {"seconds", json_number(t.seconds)},
                      {"at_least", t.censored}});
    }
  }
  return {};
}

int list_scores(const RecordsArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto tasks = (*db)->tasks();
  if (!tasks) return fail(tasks.error());
  const auto sessions = (*db)->sessions();
  if (!sessions) return fail(sessions.error());
  if (const auto there = check_session(o, *sessions); !there) return fail_input(there.error());
  Table table({"task", ">session", ">trial", ">round", ">draft", ">verified", ">time"});
  Json list = Json::array();
  // Without a session's number the newest that has any.
  for (auto s = sessions->rbegin(); s != sessions->rend() && list.empty(); ++s) {
    if (o.session > 0 && s->id.value != o.session) continue;
    if (auto added = add_scores(**db, o, *tasks, s->id, table, list); !added) return fail(added.error());
  }
  say_damage();
  if (o.json) {
    print_json({{"trials", list}});
  } else if (list.empty()) {
    note("No candidate was judged before it was measured: tuners with a cost model do that, and pruner drafts by a formula before");
  } else {
    put(table.text());
  }
  return kDone;
}

void note_problems(const std::vector<records::LineProblem>& problems) {
  note_skipped(problems.size(), [&](size_t i) { return problem_text(problems[i]); });
}

/// A log file's records; lines of no use are notes.
Expected<records::AutotvmLog> read_log(const std::string& path) {
  TW_TRY(auto log, records::read_autotvm_file(path));
  note_problems(log.problems);
  return log;
}

int pick_records(const RecordsArguments& o) {
  const auto log = read_log(o.file);
  if (!log) return fail_input(log.error());
  const auto best = records::pick_best(log->records);
  std::string lines = o.output.empty() ? "" : records::gathered_comment("the best line of each workload of " + o.file);
  for (const records::AutotvmRecord& r : best) lines += records::autotvm_line(r) + "\n";
  if (auto r = put_lines(o.output, lines); !r) return fail(r.error());
  note(fmt::format("{} of {} records are the best of their workload", best.size(), log->records.size()));
  return best.empty() && !log->problems.empty() ? kBadInput : kDone;
}

int split_records(const RecordsArguments& o) {
  const auto log = read_log(o.file);
  if (!log) return fail_input(log.error());
  const auto workloads = records::split_workloads(log->records);
  Json files = Json::array();
  Table table({"file", ">records", "workload"});
  for (size_t i = 0; i < workloads.size(); ++i) {
    const std::string path = fmt::format("{}.{:03}.wkl", o.output.empty() ? o.file : o.output, i);
    std::string lines = records::gathered_comment("one workload of " + o.file);
    for (const records::AutotvmRecord& r : workloads[i]) lines += records::autotvm_line(r) + "\n";
    if (auto r = put_lines(path, lines); !r) return fail(r.error());
    const records::AutotvmRecord& first = workloads[i].front();
    const std::string& name = first.task_name.empty() ? first.name : first.task_name;
    files.push_back({{"file", path}, {"records", workloads[i].size()}, {"workload", name}});
    table.row({path, std::to_string(workloads[i].size()), printable(name)});
  }
  if (o.json) {
    print_json({{"files", files}, {"skipped", log->problems.size()}});
  } else {
    put(table.text());
  }
  return workloads.empty() && !log->problems.empty() ? kBadInput : kDone;
}

Subcommand add_common(Subcommand app, Run& run, const char* name, const char* help, const std::shared_ptr<RecordsArguments>& o,
                      int (*work)(const RecordsArguments&)) {
  Subcommand sub = app.command(run, name, help, o, work);
  sub.option("--db", o->db, "Database").input().required();
  return sub;
}

}  // namespace

bool matches(const db::TaskRow& row, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  for (const std::string& f : filters)
    if (row.name.find(f) != std::string::npos || row.key.starts_with(f)) return true;
  return false;
}

std::string problem_text(const records::LineProblem& p) { return fmt::format("line {}: {}", p.line, p.reason); }

void add_records(Subcommand app, Run& run) {
  Subcommand records = app.group("records", "Trials in and out of a database");
  const char* task_help = "Only tasks whose name contains this or whose key begins with it; may be repeated";
  auto e = std::make_shared<RecordsArguments>();
  Subcommand sub = add_common(records, run, "export", "Writes every trial as a JSON line", e, export_records);
  const auto add_format = [](Subcommand& to, RecordsArguments& o) {
    to.option("--format", o.format, "Form of the lines: autotvm (JSON lines, protocol 0.2), or ansor (auto_scheduler's, v0.6), which leaves out trials with steps of our own")
        .one_of({"autotvm", "ansor"})
        .show_default();
  };
  add_format(sub, *e);
  sub.option("file,-o,--output", e->file, "File to write; standard output if absent").output(records::kOurLog);
  sub.option("--task", e->filters, task_help);
  sub.option("--session", e->session, "Only the trials of this session");
  auto i = std::make_shared<RecordsArguments>();
  sub =
      add_common(records, run, "import", "Stores the trials of a log of AutoTVM or Ansor, or of a database of MetaSchedule; lines that cannot be used are named and skipped", i, import_records);
  sub.option("logs", i->logs, "Files with JSON lines, or folders: of those all that end in '.json', as in TenSet's measure_records").input().required();
  sub.option("--model", i->network.model, "ONNX file whose tasks are added first, so that lines count for its fused tasks").input();
  sub.option("--target", i->network.target, "Target of the model's tasks").show_default();
  i->network.preparation.declare(sub);
  sub.flag("--json", i->json, "One JSON document on standard output");
  auto b = std::make_shared<RecordsArguments>();
  sub = add_common(records, run, "best", "The fastest verified trial of every task; where there is none, the fastest that a log claims", b, best_records);
  add_format(sub, *b);
  sub.option("file", b->file, "Writes JSON lines to this file instead of a table").output(records::kOurLog);
  sub.option("--task", b->filters, task_help);
  sub.flag("--json", b->json, "One JSON document on standard output");
  auto j = std::make_shared<RecordsArguments>();
  sub = add_common(records, run, "scores", "What a draft's formula and a cost model said of a session's candidates before they were measured, beside their times", j, list_scores);
  sub.option("--session", j->session, "Number of the session; the newest with scores if absent");
  sub.option("--task", j->filters, task_help);
  sub.flag("--json", j->json, "One JSON document on standard output");
  auto c = std::make_shared<RecordsArguments>();
  sub = add_common(records, run, "check", "Runs some blocks of every task's best kernel for a GPU in the interpreter, for races and wrong values; needs no GPU",
                   c, check_records);
  sub.option("--task", c->filters, task_help);
  sub.option("--blocks", c->blocks, "Blocks of each kernel that are run").range(1, 1024).show_default();
  sub.option("--arch", c->archs, "Also compile for these compute capabilities with NVRTC, such as 80 90");
  sub.flag("--json", c->json, "One JSON document on standard output");
  auto p = std::make_shared<RecordsArguments>();
  sub = records.command(run, "pick", "The best line of each workload of a log", p, pick_records);
  sub.option("log", p->file, "File with JSON lines").input().required();
  sub.option("file", p->output, "File to write; standard output if absent").output(records::kOurLog);
  auto w = std::make_shared<RecordsArguments>();
  sub = records.command(run, "split", "A log as one file for each workload: LOG.000.wkl, LOG.001.wkl and so on; repeated points once", w, split_records);
  sub.option("log", w->file, "File with JSON lines").input().required();
  sub.option("-o,--output", w->output, "Beginning of the files' names instead of LOG");
  sub.flag("--json", w->json, "One JSON document on standard output");
}

}  // namespace tw::cli
