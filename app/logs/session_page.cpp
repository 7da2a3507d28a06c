// SPDX-License-Identifier: Apache-2.0
#include "app/logs/session_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/logs/page.h"
#include "db/session_workspace.h"
#include "engine/api/explain.h"
#include "engine/base/duration.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/target/target.h"

namespace tw::logs {
namespace {

constexpr double kWidth = 860, kHeight = 240, kLeft = 64, kRight = 8, kBottom = 28, kMargin = 8;
constexpr double kNone = std::numeric_limits<double>::infinity();

/// All that is told of one task.
struct TaskStory {
  db::TaskRow task;
  int weight = 1;
  std::vector<double> seconds;  ///< per trial, infinity for failures
  std::map<records::Status, int> failures;
  double best = kNone;  ///< of the session: verified trials before others, as everywhere
};

/// All trials as points and the best so far as a line, time against the trial's number, on a logarithmic scale.
std::string curve(const TaskStory& story) {
  double low = kNone, high = 0;
  for (const double s : story.seconds)
    if (std::isfinite(s)) low = std::min(low, s), high = std::max(high, s);
  if (high <= 0) return "<p>No trial of this task succeeded.</p>\n";
  if (high < low * 1.01) high = low * 1.01;
  const auto n = static_cast<double>(std::max<size_t>(story.seconds.size(), 2));
  const auto x = [&](size_t i) { return kLeft + static_cast<double>(i) / (n - 1) * (kWidth - kLeft - kRight); };
  const auto y = [&](double s) { return kMargin + (1 - std::log(s / low) / std::log(high / low)) * (kHeight - kBottom - 2 * kMargin); };
  std::string points, line, failures;
  double best = kNone;
  for (size_t i = 0; i < story.seconds.size(); ++i) {
    const double s = story.seconds[i];
    if (!std::isfinite(s)) {
      failures += fmt::format("M{:.1f} {:.1f}l4 4m0 -4l-4 4", x(i) - 2, kHeight - kBottom - 6);
      continue;
    }
    points += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.6\"/>", x(i), y(s));
    if (s >= best) continue;
    line += line.empty() ? fmt::format("M{:.1f} {:.1f}", x(i), y(s)) : fmt::format("H{:.1f}V{:.1f}", x(i), y(s));
    best = s;
  }
  line += fmt::format("H{:.1f}", x(story.seconds.size() - 1));
  std::string svg = fmt::format("<svg class=\"curve\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Time of every trial and best so far\">\n", kWidth, kHeight);
  for (const double s : {low, std::sqrt(low * high), high})
    svg += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft, kWidth - kRight, y(s), y(s),
                       kLeft - 6, y(s) + 4, page_time(s));
  svg += fmt::format("<g class=\"trials\">{}</g>\n<path class=\"failed\" d=\"{}\"/>\n<path class=\"best\" d=\"{}\"/>\n", points, failures, line);
  return svg + fmt::format("<text x=\"{}\" y=\"{}\">1</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">trial {}</text>\n</svg>\n", kLeft, kHeight - kMargin, kWidth - kRight,
                           kHeight - kMargin, story.seconds.size());
}

std::string code(const std::string& text) { return "<code>" + markup_text(text) + "</code>"; }

std::string json_table(const Json& json) {
  std::string out = "<table>\n";
  for (const auto& [name, value] : json.items()) out += page_row({markup_text(name), code(dump_json(value))});
  return out + "</table>\n";
}

/// Notes and tags of the nouns that the page speaks of.
std::string notes(const std::vector<db::MarkRow>& marks, const std::vector<std::pair<std::string, std::string>>& nouns) {
  std::string rows;
  for (const auto& [noun, title] : nouns)
    for (const db::MarkRow& mark : marks) {
      if (mark.noun != noun) continue;
      std::string lines, tags;
      for (const std::string_view line : split_lines(mark.note)) lines += (lines.empty() ? "" : "<br>") + markup_text(line);
      for (const std::string& tag : mark.tags) tags += (tags.empty() ? "#" : " #") + markup_text(tag);
      rows += page_row({markup_text(title), lines, tags});
    }
  return rows.empty() ? "" : "<h2>Notes</h2>\n<table>\n" + rows + "</table>\n";
}

Expected<TaskStory> tell(db::Database& database, SessionId session, const db::ModelTaskRow& entry, StopToken stop) {
  constexpr int64_t kPage = 4096;
  TaskStory story;
  story.task = entry.task;
  story.weight = entry.weight;
  double unverified = kNone;
  for (int64_t after = 0; !stop.stop_requested();) {
    TW_TRY(const auto rows, database.outcomes(session, entry.task.id, after, kPage));
    for (const db::TrialOutcome& trial : rows) {
      const bool ok = trial.status == records::Status::ok;
      const double s = ok && !trial.censored ? trial.seconds : kNone;
      story.seconds.push_back(s);
      if (!ok) ++story.failures[trial.status];
      double& best = trial.verified ? story.best : unverified;
      best = std::min(best, s);
    }
    if (static_cast<int64_t>(rows.size()) < kPage) break;
    after = rows.back().number;
  }
  if (stop.stop_requested()) return Error(ErrorCode::cancelled, "The report was cancelled");
  if (!std::isfinite(story.best)) story.best = unverified;
  return story;
}

std::string speed_up(double from, double to) { return std::isfinite(from) && std::isfinite(to) && to > 0 ? fmt::format("{:#.3g}\u00D7", from / to) : "\u2014"; }

/// What the times of a session are where they are not measured; empty where they are.
std::string kind_of_times(const db::SessionRow& session) {
  if (session.kind == db::TimeKind::replayed)
    return fmt::format("replayed from trials recorded before ({}), not measured again", markup_text(session.options.is_object() ? session.options.value("device", "") : ""));
  const auto target = parse_target(session.target);
  if (session.kind == db::TimeKind::simulated && target && target->gpu) return fmt::format("simulated by a formula of {}, not measured", markup_text(target->gpu->description));
  return session.kind == db::TimeKind::measured ? "" : db::time_kind_name(session.kind);
}

template <typename T, typename Rows>
Expected<T> found(const Rows& rows, const char* what, int64_t id) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const T& row) { return row.id.value == id; });
  if (at == rows.end()) return Error(ErrorCode::not_found, fmt::format("Expected {} {} in the workspace, found none", what, id));
  return *at;
}

/// As it counts in the session's network.
Expected<db::TaskRow> task_of(db::Database& database, const db::SessionRow& session, TaskId id) {
  TW_TRY(const auto linked, database.tasks_of(session.model));
  for (const db::ModelTaskRow& row : linked)
    if (row.task.id == id) return row.task;
  TW_TRY(const auto tasks, database.tasks());
  return found<db::TaskRow>(tasks, "task", id.value);
}

/// A long text, closed until it is asked for.
std::string folded(const char* title, const std::string& text, bool open = false) {
  if (text.empty()) return "";
  std::string out = fmt::format("<details{}><summary>{}</summary><pre>", open ? " open" : "", title);
  for (const std::string_view line : split_lines(text)) out += markup_text(line) + "\n";
  return out + "</pre></details>\n";
}

}  // namespace

Expected<std::string> session_page(db::Database& database, SessionId id, StopToken stop) {
  TW_TRY(const auto sessions, database.sessions());
  TW_TRY(const auto models, database.models());
  TW_TRY(const auto session, found<db::SessionRow>(sessions, "session", id.value));
  TW_TRY(const auto model, found<db::ModelRow>(models, "model", session.model.value));
  TW_TRY(const auto tasks, database.tasks_of(session.model));
  TW_TRY(const auto marks, database.marks());
  std::vector<TaskStory> stories;
  for (const db::ModelTaskRow& entry : tasks) {
    TW_TRY(TaskStory story, tell(database, id, entry, stop));
    if (!story.seconds.empty()) stories.push_back(std::move(story));
  }

  std::string page = page_head(fmt::format("Session {} of {}", id.value, model.name)) + "<table>\n";
  page += page_row({"Model", fmt::format("{} <small>{}</small>", markup_text(model.name), markup_text(model.content_key))});
  page += page_row({"Tuner", markup_text(session.tuner)}) + page_row({"Target", code(session.target)});
  if (const std::string kind = kind_of_times(session); !kind.empty()) page += page_row({"Times", kind});
  page += page_row({"State", markup_text(session.state)}) + page_row({"Started", date_text(session.started_s)});
  if (session.worked_s() > 0) page += page_row({"Duration", duration_text(session.worked_s())});
  page += page_row({"Trials", std::to_string(session.trials)}) + page_row({"Program", markup_text("Tilewright " + session.code_version)});
  page += "</table>\n<h2>Tasks</h2>\n<table class=\"numbers\">\n";
  page += page_row({"Task", "Runs per inference", "Trials", "Failed", "Best of the session", "Best of the task", "Default schedule", "Speed-up"}, "th");
  std::vector<std::pair<std::string, std::string>> nouns = {{"model:" + model.content_key, "Model"}, {"session:" + std::to_string(id.value), "Session"}};
  for (const TaskStory& s : stories) {
    int failed = 0;
    for (const auto& [status, count] : s.failures) failed += count;
    const db::TaskCounts& standing = s.task.of_kind[static_cast<size_t>(session.kind)];  // over all sessions of this kind
    page += page_row({markup_text(s.task.name), std::to_string(s.weight), std::to_string(s.seconds.size()), std::to_string(failed), page_time(s.best), page_time(standing.best_s),
                      page_time(standing.default_s), speed_up(standing.default_s, standing.best_s)});
    nouns.emplace_back("task:" + s.task.key, s.task.name);
  }
  page += "</table>\n" + notes(marks, nouns);
  for (const TaskStory& s : stories) {
    page += fmt::format("<h2>{}</h2>\n<p class=\"muted\">{}</p>\n", markup_text(s.task.name), code(s.task.key)) + curve(s);
    if (s.failures.empty()) continue;
    page += "<table class=\"numbers\">\n";
    for (const auto& [status, count] : s.failures) page += page_row({records::status_name(status), std::to_string(count)});
    page += "</table>\n";
  }
  return page + "<h2>Options</h2>\n" + json_table(session.options) + "<h2>Machine</h2>\n" + json_table(session.host) + page_end();
}

Expected<std::string> trial_page(db::Database& database, SessionId id, TaskId task_id, int64_t number) {
  TW_TRY(const auto sessions, database.sessions());
  TW_TRY(const auto session, found<db::SessionRow>(sessions, "session", id.value));
  TW_TRY(const db::TaskRow task, task_of(database, session, task_id));
  TW_TRY(const auto row, database.trial(id, task_id, number));
  if (!row) return Error(ErrorCode::not_found, fmt::format("Expected trial {} of session {} and task '{}', found none", number, id.value, printable(task.name)));
  const records::MeasureResult& result = row->record.result;
  const records::Candidate& candidate = row->record.candidate;
  const db::TaskCounts& standing = task.of_kind[static_cast<size_t>(session.kind)];

  std::string page = page_head(fmt::format("Trial {} of {}", number, task.name)) + "<table>\n";
  page += page_row({"Task", fmt::format("{} <small>{}</small>", markup_text(task.name), markup_text(task.key))});
  page += page_row({"Session", fmt::format("{}, {}", id.value, markup_text(session.tuner))}) + page_row({"Target", code(session.target)});
  if (const std::string kind = kind_of_times(session); !kind.empty()) page += page_row({"Times", kind});
  if (result.ok()) {
    page += page_row({"Time", page_time(result.decided_s())}) + page_row({"Default schedule", page_time(standing.default_s)});
    page += page_row({"Speed-up", speed_up(standing.default_s, result.decided_s())}) + page_row({"Best of the task", page_time(standing.best_s)});
    page += page_row({"Result", result.verified ? "compared with the reference" : "not compared with a reference"});
    std::string samples;
    for (const double s : result.samples_s) samples += (samples.empty() ? "" : ", ") + page_time(s);
    page += page_row({"Samples", samples});
  } else {
    page += page_row({"Outcome", fmt::format("{}: {}", records::status_name(result.status), markup_text(result.message))});
  }
  page += page_row({"Space", markup_text(candidate.space)});
  if (candidate.index >= 0) page += page_row({"Point", std::to_string(candidate.index)});
  if (!candidate.config.empty()) page += page_row({"Choices", code(candidate.config)});
  TW_TRY(const auto marks, database.marks());
  page += "</table>\n" + notes(marks, {{fmt::format("trial:{}/{}/{}", id.value, task.key, number), "Trial"}, {"task:" + task.key, "Task"}});
  if (task.dag_text.empty()) return page + "<p>The task is another program's: its computation is not known here, so there is no code to show.</p>\n" + page_end();
  TW_TRY(const records::Task computation, db::task_of(task));
  const api::Explanation shown = api::explain(computation, candidate.steps);
  const bool gpu = computation.target.gpu.has_value();
  page += "<h2>Computation</h2>\n" + folded("As written", task.dag_text, true) + "<h2>Schedule and code</h2>\n";
  if (shown.error) page += fmt::format("<p>{}</p>\n", markup_text(shown.error->text()));
  page += folded("Steps", shown.steps, true) + folded("Loops", shown.loops, true) + folded("TIR after all passes", shown.tir);
  page += folded(gpu ? "CUDA C++" : "LLVM IR", shown.llvm_ir) + folded(gpu ? "PTX" : "Assembly", shown.assembly) + folded("SASS", shown.sass);
  return page + page_end();
}

}  // namespace tw::logs
