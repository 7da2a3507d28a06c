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
#include "app/logs/page.h"
#include "app/logs/recorded_space.h"
#include "app/logs/why_page.h"
#include "db/session_workspace.h"
#include "engine/api/why_faster.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/records/recorded_trials.h"

namespace tw::cli {
namespace {

struct ExplainArguments {
  std::string db, first, second, task, device, page;
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
    return api::why_faster(pair.task, pair.first.candidate, pair.second.candidate, stored, {.stop = stop_token()});
  }
  TW_TRY(const measure::Device device, measure::open_device(o.device, pair.task.target, {}));
  const auto measured = [&](const records::Candidate& c) -> Expected<double> {
    if (c.steps.empty()) return Error(ErrorCode::illegal_schedule, "its schedule cannot be made");
    const auto built = device.builder->build(pair.task, std::span(&c, 1), stop_token());
    if (built[0].status != records::Status::ok) return Error(ErrorCode::illegal_schedule, fmt::format("building it ended as {}: {}", records::status_name(built[0].status), built[0].message));
    return time_of_result(device.runner->run(pair.task, built, {}, stop_token())[0]);
  };
  api::WhyOptions options{.stop = stop_token()};
  if (!pair.task.target.gpu && o.device == measure::kLocalDevice)
    options.count = [&](const records::Candidate& c) { return device.runner->count(pair.task, device.builder->build(pair.task, std::span(&c, 1), stop_token())[0], stop_token()); };
  return api::why_faster(pair.task, pair.first.candidate, pair.second.candidate, measured, options);
}

Json why_json(const api::WhyFaster& why, const char* kind) {
  Json choices = Json::array(), missing = Json::array();
  const auto pairs = [](const std::vector<api::FactDifference>& all) {
    Json out = Json::array();
    for (const auto& f : all) out.push_back({{"name", f.name}, {"first", f.first}, {"second", f.second}});
    return out;
  };
  const double all = std::log(why.first_s / why.second_s);
  for (const auto& c : why.choices)
    choices.push_back({{"choice", c.name},
                       {"first", c.first},
                       {"second", c.second},
                       {"factor", c.share.factor},
                       {"least", c.share.least},
                       {"most", c.share.most},
                       {"share", json_number(std::log(c.share.factor) / all)}});
  for (const auto& [knobs, reason] : why.missing) missing.push_back({{"changed", knobs}, {"reason", reason}});
  return {{"first_s", why.first_s},     {"second_s", why.second_s},
          {"speedup", why.first_s / why.second_s}, {"times", kind},
          {"choices", choices},         {"orders", why.orders},
          {"all_orders", why.all_orders}, {"missing", missing},
          {"steps_of_first_only", why.only_first}, {"steps_of_second_only", why.only_second},
          {"facts", pairs(why.facts)},   {"counts", pairs(why.counts)}, {"features", pairs(why.features)},
          {"undivided", why.undivided}, {"uncounted", why.uncounted}};
}

void print_facts(const ExplainArguments& o, const char* title, const std::vector<api::FactDifference>& all, size_t most = SIZE_MAX) {
  if (all.empty()) return;
  Table table({title, ">" + o.first, ">" + o.second});
  for (size_t k = 0; k < std::min(all.size(), most); ++k) table.row({printable(all[k].name), logs::fact_text(all[k].first), logs::fact_text(all[k].second)});
  put("\n" + table.text());
}

int explain_trials(const ExplainArguments& o) {
  const auto first = parse_trial(o.first), second = parse_trial(o.second);
  if (!first) return fail_usage(first.error().text());
  if (!second) return fail_usage(second.error().text());
  const auto pair = read_pair(o, *first, *second);
  if (!pair) return fail_input(pair.error());
  const auto why = explain_pair(o, *pair);
  if (!why) return why.error().code == ErrorCode::cancelled ? fail(why.error()) : fail_input(why.error());
  const std::string device = o.device.empty() ? "" : ", on " + o.device;
  if (!o.page.empty()) {
    const std::string times = fmt::format("{}{}", db::time_kind_name(pair->kind), device);
    if (auto written = write_file(o.page, logs::kWebPage, logs::why_page(pair->task, {o.first, pair->first.candidate}, {o.second, pair->second.candidate}, *why, times)); !written)
      return fail(written.error());
  }
  if (o.json) {
    print_json(why_json(*why, db::time_kind_name(pair->kind)));
    return kDone;
  }
  print("{}: {} takes {}, {} takes {}, {} as long ({} times{})\n\n", pair->task.name, o.first, time_text(why->first_s), o.second, time_text(why->second_s),
        ratio_text(why->second_s / why->first_s), db::time_kind_name(pair->kind), printable(device));
  Table choices({"choice", "in " + o.first, "in " + o.second, ">faster by", ">at least", ">at most", ">explains"});
  for (const auto& c : why->choices)
    choices.row({printable(c.name), printable(c.first), printable(c.second), ratio_text(c.share.factor), ratio_text(c.share.least), ratio_text(c.share.most),
                 logs::explained_text(*why, c)});
  if (!why->undivided.empty()) {
    print("The difference cannot be shared among choices: {}\n", printable(why->undivided));
  } else {
    put(choices.text());
    print("\nChanged one at a time, the mean over {:.0f} of {:.0f} orders; at least and at most: among the other changes that were made before.\n", why->orders, why->all_orders);
  }
  for (const auto& [knobs, reason] : why->missing) print("No time with {} changed: {}\n", printable(fmt::format("{}", fmt::join(knobs, ", "))), printable(reason));
  print_facts(o, "what differs", why->facts);
  print_facts(o, "counted by the processor", why->counts);
  if (!why->uncounted.empty()) print("\n{}\n", printable(why->uncounted));
  print_facts(o, "what cost models see", why->features, api::kShownFeatures);
  if (why->features.size() > api::kShownFeatures)
    print("The {} that differ most of {}; --json and --html have all. Most are logarithms, log2(1 + x).\n", api::kShownFeatures, why->features.size());
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
  sub.option("--html", o->page, "Also write it as a web page that needs no other file, with steps, loops and code beside each other").output(logs::kWebPage);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
