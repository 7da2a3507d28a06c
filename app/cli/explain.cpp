// SPDX-License-Identifier: Apache-2.0
// `tw explain`: why one of two trials is faster than the other.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "app/logs/recorded_space.h"
#include "db/session_workspace.h"
#include "engine/api/why_faster.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/records/recorded_trials.h"

namespace tw::cli {
namespace {

struct ExplainArguments {
  std::string db, first, second, task, device;
  bool json = false;
};

struct TrialName {
  SessionId session;
  int64_t number = 0;
};

Expected<TrialName> parse_trial(const std::string& text) {
  TrialName name;
  const char *begin = text.data(), *end = begin + text.size();
  const auto session = std::from_chars(begin, end, name.session.value);
  if (session.ec == std::errc() && session.ptr != end && *session.ptr == ':') {
    const auto number = std::from_chars(session.ptr + 1, end, name.number);
    if (number.ec == std::errc() && number.ptr == end && name.session.value > 0 && name.number > 0) return name;
  }
  return Error(ErrorCode::invalid_argument, fmt::format("Expected a trial as SESSION:NUMBER, such as 1:17, found '{}'", printable(text)));
}

/// What both trials are of, and where times of points come from.
struct Pair {
  records::Task task;
  records::Record first, second;
  std::shared_ptr<const records::RecordedTrials> known;
  db::TimeKind kind = db::TimeKind::measured;
};

Expected<Pair> read_pair(const ExplainArguments& o, const TrialName& first, const TrialName& second) {
  TW_TRY(const auto db, open_workspace(o.db, db::Mode::read_only));
  TW_TRY(const auto rows, db->tasks());
  TW_TRY(const auto sessions, db->sessions());
  const auto kind_of = [&](SessionId id) -> Expected<db::TimeKind> {
    const auto row = std::find_if(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id == id; });
    if (row == sessions.end()) return Error(ErrorCode::not_found, fmt::format("Expected session {}, found none", id.value), db->path());
    return row->kind;
  };
  Pair pair;
  TW_TRY(pair.kind, kind_of(first.session));
  TW_TRY(const db::TimeKind other, kind_of(second.session));
  if (other != pair.kind)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected two trials with times of one kind, found {} and {} ones", db::time_kind_name(pair.kind), db::time_kind_name(other)));
  std::vector<std::string> names;
  for (const db::TaskRow& row : rows) {
    if (!o.task.empty() && row.name != o.task && !row.key.starts_with(o.task)) continue;
    TW_TRY(auto a, db->trial(first.session, row.id, first.number));
    TW_TRY(auto b, db->trial(second.session, row.id, second.number));
    if (!a || !b) continue;
    names.push_back(fmt::format("{} {}", row.name, row.key.substr(0, 10)));
    if (names.size() > 1) continue;
    if (row.dag_text.empty()) return Error(ErrorCode::unsupported, "Expected a task with its computation, found one of another program's log", row.name);
    TW_TRY(pair.task, db::task_of(row));
    pair.first = std::move(a->record), pair.second = std::move(b->record);
    auto known = std::make_shared<records::RecordedTrials>();
    TW_TRY(auto trials, db->trials(std::nullopt, row.id, {}, -1, true));
    std::set<SessionId> same;
    for (const db::SessionRow& s : sessions)
      if (s.kind == pair.kind) same.insert(s.id);
    for (db::TrialRow& t : trials)
      if (same.contains(t.session)) known->add(std::move(t.record));
    // The two that were asked for, if their points were measured more often.
    known->add(pair.first);
    known->add(pair.second);
    pair.known = std::move(known);
  }
  if (names.empty())
    return Error(ErrorCode::not_found, fmt::format("Expected a task that has trial {} of session {} and trial {} of session {}, found none", first.number, first.session.value,
                                                   second.number, second.session.value),
                 db->path());
  if (names.size() > 1)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected --task to name one of the tasks that have both trials: {}", printable(fmt::format("{}", fmt::join(names, ", ")))));
  if (o.device.starts_with(records::kRecordedDevice)) {
    TW_TRY(const std::string file, logs::space_file(o.device.substr(records::kRecordedDevice.size())));
    TW_TRY(pair.known, logs::trials_in_file(*db, file, {pair.task}, stop_token()));
  }
  return pair;
}

Expected<double> time_of_result(const records::MeasureResult& r) {
  if (!r.ok()) return Error(ErrorCode::illegal_schedule, fmt::format("its trial ended as {}{}", records::status_name(r.status), r.message.empty() ? "" : ": " + r.message));
  if (r.censored) return Error(ErrorCode::not_found, "its trial was stopped early as clearly slow, so that it has no time");
  return r.decided_s();
}

/// With times of stored trials, or of a device that is asked for all of them, so that times of two days are not mixed.
Expected<api::WhyFaster> explain_pair(const ExplainArguments& o, const Pair& pair) {
  if (o.device.empty() || o.device.starts_with(records::kRecordedDevice)) {
    const auto stored = [&](const records::Candidate& c) -> Expected<double> {
      const records::Record* r = pair.known->find(pair.task.key, c);
      if (!r) return Error(ErrorCode::not_found, o.device.empty() ? "no trial of it is in the workspace" : "it was not recorded");
      return time_of_result(r->result);
    };
    return api::why_faster(pair.task, pair.first.candidate, pair.second.candidate, stored, stop_token());
  }
  TW_TRY(const measure::Device device, measure::open_device(o.device, pair.task.target, {}));
  const auto measured = [&](const records::Candidate& c) -> Expected<double> {
    if (c.steps.empty()) return Error(ErrorCode::illegal_schedule, "its schedule cannot be made");
    const auto built = device.builder->build(pair.task, std::span(&c, 1), stop_token());
    if (built[0].status != records::Status::ok) return Error(ErrorCode::illegal_schedule, fmt::format("building it ended as {}: {}", records::status_name(built[0].status), built[0].message));
    return time_of_result(device.runner->run(pair.task, built, {}, stop_token())[0]);
  };
  return api::why_faster(pair.task, pair.first.candidate, pair.second.candidate, measured, stop_token());
}

Json why_json(const api::WhyFaster& why, const char* kind) {
  Json choices = Json::array(), missing = Json::array(), facts = Json::array();
  const double all = std::log(why.first_s / why.second_s);
  for (const auto& c : why.choices)
    choices.push_back({{"knob", c.knob},
                       {"first", c.first},
                       {"second", c.second},
                       {"factor", c.share.factor},
                       {"least", c.share.least},
                       {"most", c.share.most},
                       {"share", json_number(std::log(c.share.factor) / all)}});
  for (const auto& [knobs, reason] : why.missing) missing.push_back({{"changed", knobs}, {"reason", reason}});
  for (const auto& f : why.facts) facts.push_back({{"name", f.name}, {"first", f.first}, {"second", f.second}});
  return {{"first_s", why.first_s},     {"second_s", why.second_s},
          {"speedup", why.first_s / why.second_s}, {"times", kind},
          {"choices", choices},         {"orders", why.orders},
          {"all_orders", why.all_orders}, {"missing", missing},
          {"steps_of_first_only", why.only_first}, {"steps_of_second_only", why.only_second},
          {"facts", facts}};
}

std::string number(double v) { return v == std::floor(v) && std::abs(v) < 1e15 ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v); }

int explain_trials(const ExplainArguments& o) {
  const auto first = parse_trial(o.first), second = parse_trial(o.second);
  if (!first) return fail_usage(first.error().text());
  if (!second) return fail_usage(second.error().text());
  const auto pair = read_pair(o, *first, *second);
  if (!pair) return fail_input(pair.error());
  const auto why = explain_pair(o, *pair);
  if (!why) return why.error().code == ErrorCode::cancelled ? fail(why.error()) : fail_input(why.error());
  const std::string device = o.device.empty() ? "" : ", on " + o.device;
  if (o.json) {
    print_json(why_json(*why, db::time_kind_name(pair->kind)));
    return kDone;
  }
  print("{}: {} takes {}, {} takes {}, {} as long ({} times{})\n\n", pair->task.name, o.first, time_text(why->first_s), o.second, time_text(why->second_s),
        ratio_text(why->second_s / why->first_s), db::time_kind_name(pair->kind), printable(device));
  Table choices({"choice", "in " + o.first, "in " + o.second, ">faster by", ">at least", ">at most", ">explains"});
  const double all = std::log(why->first_s / why->second_s);
  for (const auto& c : why->choices)
    choices.row({printable(c.knob), printable(c.first), printable(c.second), ratio_text(c.share.factor), ratio_text(c.share.least), ratio_text(c.share.most),
                 all == 0 ? "-" : fmt::format("{:.0f} %", 100 * std::log(c.share.factor) / all)});
  put(choices.text());
  print("\nChanged one at a time, the mean over {:.0f} of {:.0f} orders; at least and at most: among the other changes that were made before.\n", why->orders, why->all_orders);
  for (const auto& [knobs, reason] : why->missing) print("No time with {} changed: {}\n", printable(fmt::format("{}", fmt::join(knobs, ", "))), printable(reason));
  if (!why->facts.empty()) {
    Table facts({"what differs", ">" + o.first, ">" + o.second});
    for (const auto& f : why->facts) facts.row({printable(f.name), number(f.first), number(f.second)});
    put("\n" + facts.text());
  }
  for (const auto& [name, lines] : {std::pair(o.first, why->only_first), std::pair(o.second, why->only_second)}) {
    if (lines.empty()) continue;
    print("\nSteps of {} alone\n", name);
    for (const std::string& line : lines) print("  {}\n", printable(line));
  }
  return kDone;
}

}  // namespace

void add_explain(Subcommand app, Run& run) {
  auto o = std::make_shared<ExplainArguments>();
  Subcommand sub = app.command(run, "explain", "Says why one of two trials is faster: which of their choices explain how much, changed one at a time", o, explain_trials);
  sub.option("db", o->db, "Workspace").required().input();
  sub.option("first", o->first, "Trial as SESSION:NUMBER").required();
  sub.option("second", o->second, "Trial of the same task").required();
  sub.option("--task", o->task, "Name, or the beginning of a key, where both sessions have several tasks");
  sub.option("--device", o->device, "What measures the points between both, and both once more: local, cuda:0, sim:NAME; recorded:FILE answers from a file. Absent: the workspace's trials do");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
