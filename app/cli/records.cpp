// SPDX-License-Identifier: Apache-2.0
// `tw records`: trials in and out of a database as AutoTVM's JSON lines.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/import_log.h"
#include "db/recorded.h"
#include "db/session_workspace.h"
#include "engine/api/ansor_trials.h"
#include "engine/api/gpu_check.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_log.h"
#include "engine/records/best.h"
#include "engine/records/round_trials.h"

namespace tw::cli {
namespace {

struct RecordsArguments {
  std::string db, file, output, format = "autotvm";
  std::vector<std::string> filters, logs;
  int64_t session = 0;
  std::vector<int> archs;
  int blocks = api::GpuCheckOptions().blocks;
  NetworkOptions network;
  bool json = false;
};

bool matches(const db::TaskRow& row, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  for (const std::string& f : filters)
    if (row.name.find(f) != std::string::npos || row.key.starts_with(f)) return true;
  return false;
}

/// Lines to the file, or to standard output when there is none.
Expected<void> put_lines(const std::string& path, const std::string& lines) {
  if (!path.empty()) return write_file(path, records::kOurLog, lines);
  put(lines);
  return {};
}

/// Errors: unsupported for steps that the form does not have.
Expected<std::string> line_of(const RecordsArguments& o, const records::Task& task, const records::Record& record) {
  if (o.format == "ansor") return api::ansor_line_of(task, record);
  return records::autotvm_line(records::to_autotvm(task, record));
}

Expected<void> export_lines(db::Database& db, const RecordsArguments& o, int64_t& count) {
  TW_TRY(const auto rows, db.tasks());
  TW_TRY(const auto sessions, db.sessions());
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
    TW_TRY(auto trials, db.trials(o.session > 0 ? std::optional(SessionId{o.session}) : std::nullopt, row.id, {}, -1, true));
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
  if (auto r = export_lines(**db, o, count); !r) return fail(r.error());
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
  if (o.json) {
    print_json({{"best", list}});
  } else if (o.file.empty()) {
    put(table.text());
  } else if (auto r = put_lines(o.file, lines); !r) {
    return fail(r.error());
  }
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
  if (o.session > 0 && std::none_of(sessions->begin(), sessions->end(), [&](const db::SessionRow& s) { return s.id.value == o.session; }))
    return fail_input(Error(ErrorCode::not_found, fmt::format("Expected session {}, found none", o.session), o.db));
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

std::string registers_text(const std::vector<codegen::KernelResources>& kernels) {
  std::vector<std::string> parts;
  for (const codegen::KernelResources& k : kernels) parts.push_back(fmt::format("{}{}", k.registers, k.spill_store_bytes > 0 ? ", spills" : ""));
  return fmt::format("{}", fmt::join(parts, " / "));
}

/// The best kernel of a task for a GPU.
struct BestKernel {
  db::TaskRow row;
  records::Task task;
  std::vector<schedule::Step> steps;
};

/// Checks on as many threads as there are processors, in the order of the kernels. Of those not begun when it was stopped there is an error.
std::vector<Expected<api::GpuCheck>> check_kernels(const std::vector<BestKernel>& kernels, const api::GpuCheckOptions& options) {
  std::vector<Expected<api::GpuCheck>> checks(kernels.size(), Error(ErrorCode::cancelled, "Cancelled"));
  Progress progress("Checking", static_cast<int64_t>(kernels.size()));
  std::atomic<size_t> next{0};
  std::mutex mutex;
  int64_t done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < kernels.size() && !options.stop.stop_requested(); i = next++) {
      checks[i] = api::check_gpu_kernel(kernels[i].task, kernels[i].steps, options);
      const std::lock_guard lock(mutex);
      progress.update(++done, kernels[i].row.name);
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min<size_t>(kernels.size(), std::max(1u, std::thread::hardware_concurrency())); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  progress.finish();
  return checks;
}

/// The best trial of every task for a GPU, looked at without one.
int check_records(const RecordsArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto rows = (*db)->tasks();
  if (!rows) return fail(rows.error());
  api::GpuCheckOptions options;
  options.blocks = o.blocks;
  options.capabilities = o.archs;
  options.stop = stop_token();
  std::vector<std::string> titles{"task", "key", ">blocks", ">elements", ">error"};
  for (const int a : o.archs) titles.push_back(fmt::format(">registers sm_{}", a));
  titles.emplace_back("verdict");
  Table table(titles);
  Json list = Json::array();
  int wrong = 0, others = 0;
  std::vector<BestKernel> kernels;
  for (const db::TaskRow& row : *rows) {
    if (!matches(row, o.filters) || row.dag_text.empty()) continue;
    const auto best = (*db)->best(row.key);
    if (!best) return fail(best.error());
    if (!*best) continue;
    auto task = db::readable_task(**db, row);
    if (!task) continue;
    if (task->target.gpu)
      kernels.push_back({row, std::move(*task), (*best)->candidate.steps});
    else
      ++others;
  }
  const std::vector<Expected<api::GpuCheck>> checks = check_kernels(kernels, options);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const db::TaskRow& row = kernels[k].row;
    const Expected<api::GpuCheck>& check = checks[k];
    if (!check && check.error().code == ErrorCode::cancelled) return kCancelled;
    wrong += !check;
    const std::string verdict = !check ? "failed" : check->not_run.empty() ? "passed" : "not run";
    std::vector<std::string> cells{row.name, row.key.substr(0, 10)};
    Json entry{{"task", row.name}, {"key", row.key}, {"verdict", verdict}};
    if (check) {
      cells.insert(cells.end(),
                   {fmt::format("{} of {}", check->blocks_run, check->blocks), std::to_string(check->elements), fmt::format("{:.1e}", check->max_rel_error)});
      entry.update({{"blocks", check->blocks}, {"blocks_run", check->blocks_run}, {"elements", check->elements}, {"max_rel_error", check->max_rel_error}});
    } else {
      cells.insert(cells.end(), 3, "-");
    }
    for (size_t a = 0; a < o.archs.size(); ++a) cells.push_back(check ? registers_text(check->resources[a]) : "-");
    const std::string reason = check ? check->not_run : check.error().text();
    if (!reason.empty()) entry["reason"] = reason;
    cells.push_back(reason.empty() ? verdict : verdict + ": " + reason);
    table.row(cells);
    list.push_back(std::move(entry));
  }
  if (others > 0) note(fmt::format("{} tasks are for processors, whose trials are verified when they are measured", others));
  if (o.json)
    print_json({{"kernels", list}, {"failed", wrong}});
  else
    put(table.text());
  return wrong > 0 ? kFailed : kDone;
}

std::string problem_text(const records::LineProblem& p) { return fmt::format("line {}: {}", p.line, p.reason); }
void note_problems(const std::vector<records::LineProblem>& problems) {
  note_skipped(problems.size(), [&](size_t i) { return problem_text(problems[i]); });
}

/// The logs that `paths` name: of a folder, as TenSet keeps a file for each task, all that end in `.json`, at any depth, in the alphabet's order. Errors: not_found for a folder without any; io_error.
Expected<std::vector<std::string>> logs_of(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      out.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    fs::recursive_directory_iterator at(path, error);
    for (std::error_code gone; !error && at != fs::recursive_directory_iterator(); at.increment(error))
      if (at->path().extension() == ".json" && at->is_regular_file(gone)) out.push_back(at->path().string());  // a link may lead nowhere
    if (error) return Error(ErrorCode::io_error, fmt::format("Expected to read the folder: {}", error.message()), path);
    if (first == static_cast<std::ptrdiff_t>(out.size())) return Error(ErrorCode::not_found, "Expected files that end in '.json', found none in the folder", path);
    std::sort(out.begin() + first, out.end());
  }
  return out;
}

/// What logs came to, all together.
struct Imported {
  std::set<std::string> formats;
  int64_t lines = 0, comments = 0, tasks = 0, foreign = 0, stored = 0, failures = 0, there = 0, unread = 0;
  std::map<std::string, int64_t> skipped;  ///< lines by reason
  std::vector<std::string> problems;       ///< those lines

  /// `of`: the log's name before its lines, where there are several.
  void add(const logs::ImportedLog& log, const std::string& of) {
    formats.insert(logs::format_name(log.content.format));
    lines += log.content.lines;
    comments += log.content.comments;
    tasks += static_cast<int64_t>(log.content.tasks.size());
    foreign += std::count_if(log.content.tasks.begin(), log.content.tasks.end(), [](const logs::LogTask& t) { return !t.computable; });
    stored += log.stored;
    failures += log.failures;
    there += log.there;
    for (const records::LineProblem& p : log.content.problems) {
      ++skipped[p.kind];
      problems.push_back(of + problem_text(p));
    }
  }
};

int import_records(const RecordsArguments& o) {
  std::optional<LoadedNetwork> loaded;
  if (!o.network.model.empty()) {
    int exit = kDone;
    loaded = load_network(o.network, exit);
    if (!loaded) return exit;
  }
  auto db = open_workspace(o.db);
  if (!db) return fail(db.error());
  ModelId model;
  if (loaded) {
    const auto stored = store_network(**db, *loaded, o.network.model, api::network_tasks(loaded->network, loaded->target));
    if (!stored) return fail(stored.error());
    model = stored->model;
  }
  const Target target = loaded ? loaded->target : host_target();
  logs::ImportOptions options;
  options.model = model;
  options.target = &target;
  options.host = host_description();
  outlive_terminal();
  const auto paths = logs_of(o.logs);
  if (!paths) return fail_input(paths.error());
  Imported all;
  for (const std::string& path : *paths) {
    auto log = logs::read_log(**db, path, options, stop_token());
    if (!log && (paths->size() == 1 || log.error().code == ErrorCode::cancelled)) return fail_input(log.error());
    if (!log) {
      note("skipped: " + log.error().text());
      ++all.unread;
      continue;
    }
    logs::ImportProgress progress;
    const auto result = logs::store_log(**db, *std::move(log), options, stop_token(), progress);
    if (!result) return fail_input(result.error());
    all.add(*result, paths->size() == 1 ? std::string() : fmt::format("'{}', ", printable(path)));
  }
  note_skipped(all.problems.size(), [&](size_t i) { return all.problems[i]; });
  if (o.json) {
    Json document = {{"format", fmt::format("{}", fmt::join(all.formats, ", "))},
                     {"lines", all.lines},
                     {"comments", all.comments},
                     {"tasks", all.tasks},
                     {"foreign_tasks", all.foreign},
                     {"stored", all.stored},
                     {"stored_failures", all.failures},
                     {"already_there", all.there},
                     {"skipped", all.problems.size()},
                     {"skipped_by_reason", all.skipped}};
    if (paths->size() > 1) document.update({{"files", paths->size()}, {"files_skipped", all.unread}});
    print_json(document);
  } else {
    std::vector<std::string> counts;
    for (const auto& [kind, count] : all.skipped) counts.push_back(fmt::format("{} {}", count, kind));
    print("{}{} records of {} tasks stored, {} of them failures; {}{} skipped{}\n", paths->size() > 1 ? fmt::format("{} files: ", paths->size() - all.unread) : "", all.stored, all.tasks, all.failures,
          all.there > 0 ? fmt::format("{} were already there; ", all.there) : "", all.problems.size(), counts.empty() ? "" : fmt::format(": {}", fmt::join(counts, ", ")));
  }
  return all.stored + all.there == 0 && all.problems.size() + static_cast<size_t>(all.unread) > 0 ? kBadInput : kDone;
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
