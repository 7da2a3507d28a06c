// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_finals.h"

#include <algorithm>
#include <cmath>

#include "engine/api/in_place.h"
#include "engine/api/network_contest.h"
#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/network_on_device.h"
#include "engine/measure/device.h"
#include "engine/measure/worker.h"
#include "engine/process/temporary_folder.h"
#include "engine/records/recorded_trials.h"

namespace tw::api {

namespace {

double now_s() { return clock_now_s(CLOCK_MONOTONIC); }

/// The records that a variant takes.
class Chosen : public records::RecordSource {
 public:
  std::map<std::string, records::Record> records;
  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights) override {
    const auto it = records.find(task_key);
    return it == records.end() ? std::optional<records::Record>() : std::optional(it->second);
  }
};

class FinalsContest final : public CompiledContest {
 public:
  FinalsContest(const NetworkFinalsRequest& request, measure::NetworkRunner& runner, std::string folder)
      : CompiledContest({request.network, request.target, request.device, request.stop}, runner, std::move(folder)), request_(request) {
    expect_runs_of(summed_seconds(request.tasks, [](const TriedTask& t) { return t.default_s; }));
  }

  /// The tasks with a winner that the network takes as it was measured.
  Expected<void> find_candidates() {
    std::vector<size_t> wanted;
    for (size_t t = 0; t < request_.tasks.size(); ++t)
      if (const auto& best = request_.tasks[t].best; best && !best->candidate.is_default()) wanted.push_back(t);
    tasks_ = wanted;
    if (wanted.empty()) return {};
    TW_TRY(const CompiledFile* all, compiled(Variant(wanted.size(), true)));
    std::erase_if(tasks_, [&](size_t t) {
      const std::string& key = request_.tasks[t].task.task.key;
      return std::none_of(all->facts.calls.begin(), all->facts.calls.end(),
                          [&](const runtime::Call& c) { return c.task_key == key && c.space == request_.tasks[t].best->candidate.space; });
    });
    if (tasks_ != wanted) forget();
    return {};
  }
  const std::vector<size_t>& tasks() const { return tasks_; }

 protected:
  Expected<runtime::Executable> compile_variant(const Variant& variant) override {
    Chosen chosen;
    for (size_t k = 0; k < tasks_.size(); ++k)
      if (variant[k]) chosen.records.emplace(request_.tasks[tasks_[k]].task.task.key, *request_.tasks[tasks_[k]].best);
    // What won alone in another state of the caches is still what is tried: only the network's own times decide.
    CompileOptions options;
    options.stop = request_.stop;
    return compile(*request_.network, *request_.target, &chosen, options);
  }

  /// Per tried task: its calls, and its share of the layout changes beside them.
  std::vector<PartTimes> kernel_times(const runtime::Executable& e, const measure::VariantTimes& times) const override {
    std::vector<PartTimes> out(tasks_.size());
    const auto add = [&](const std::string& key, int call, double share) {
      for (size_t k = 0; k < tasks_.size(); ++k) {
        if (request_.tasks[tasks_[k]].task.task.key != key) continue;
        std::vector<double>& part = out[k].emplace_back(times.calls_s[static_cast<size_t>(call)]);
        for (double& s : part) s *= share;
      }
    };
    for (size_t c = 0; c < e.calls.size(); ++c) add(e.calls[c].task_key, static_cast<int>(c), 1);
    for (const LayoutChange& change : layout_changes(e))
      for (const int n : change.neighbours) add(e.calls[static_cast<size_t>(n)].task_key, change.call, 1.0 / static_cast<double>(change.neighbours.size()));
    return out;
  }

 private:
  const NetworkFinalsRequest& request_;
  std::vector<size_t> tasks_;  ///< per kernel of the variants, its number in the request
};

/// Means over the calls of a task.
struct PlaceOfTask {
  int calls = 0;
  double seconds = 0, layouts_s = 0;
  std::string reason;
};
PlaceOfTask place_of(const std::string& key, const runtime::Executable& e, const std::vector<CallInPlace>& calls) {
  PlaceOfTask place;
  for (size_t c = 0; c < calls.size(); ++c) {
    if (e.calls[c].task_key != key) continue;
    ++place.calls;
    place.seconds += calls[c].seconds;
    place.layouts_s += calls[c].layouts_s;
    if (place.reason.empty()) place.reason = calls[c].reason;
  }
  if (place.calls > 0) {
    place.seconds /= place.calls;
    place.layouts_s /= place.calls;
  }
  return place;
}

double best_seconds(const TriedTask& t) { return t.best ? t.best->result.decided_s() : t.default_s; }

NetworkFinals begin_report(const NetworkFinalsRequest& request) {
  NetworkFinals report;
  for (const TriedTask& t : request.tasks) {
    KernelFinal k;
    k.task_key = t.task.task.key;
    k.name = t.task.task.name;
    k.weight = t.task.weight;
    k.default_s = t.default_s;
    k.best_s = best_seconds(t);
    report.kernels.push_back(std::move(k));
  }
  report.default_estimate_s = summed_seconds(request.tasks, [](const TriedTask& t) { return t.default_s; });
  return report;
}

}  // namespace

double summed_seconds(std::span<const TriedTask> tasks, const std::function<double(const TriedTask&)>& seconds) {
  double total = 0;
  for (const TriedTask& t : tasks)
    if (const double s = seconds(t); std::isfinite(s)) total += t.task.weight * s;
  return total;
}

const char* standing_text(Standing s) {
  switch (s) {
    case Standing::taken:
      return "taken";
    case Standing::slower_in_place:
      return "slower in its place";
    case Standing::no_gain_in_place:
      return "no gain in its place";
    case Standing::no_gain_together:
      return "no sure gain";
    case Standing::wrong_in_place:
      return "wrong results in its place";
  }
  TW_UNREACHABLE("standing");
}

const char* standing_name(Standing s) {
  switch (s) {
    case Standing::taken:
      return "taken";
    case Standing::slower_in_place:
      return "slower_in_place";
    case Standing::no_gain_in_place:
      return "no_gain_in_place";
    case Standing::no_gain_together:
      return "no_gain_together";
    case Standing::wrong_in_place:
      return "wrong_in_place";
  }
  TW_UNREACHABLE("standing");
}

Expected<NetworkFinals> run_network_finals(const NetworkFinalsRequest& request) {
  if (measure::is_simulated(request.device) || request.device.starts_with(records::kRecordedDevice)) {
    NetworkFinals report = begin_report(request);
    report.measured = false;
    for (size_t t = 0; t < request.tasks.size(); ++t) {
      const auto& best = request.tasks[t].best;
      if (!best || best->candidate.is_default()) continue;
      ++report.taken;
      report.kernels[t].record = best;
    }
    report.tuned_estimate_s = summed_seconds(request.tasks, best_seconds);
    return report;
  }
  if (farm::is_farm_device(request.device)) {
    TW_TRY(const auto there, farm::network_runner(request.device, request.progress));
    return run_network_finals(request, *there);
  }
  TW_TRY(const auto runner, measure::network_runner(request.workers, request.progress));
  return run_network_finals(request, *runner);
}

Expected<NetworkFinals> run_network_finals(const NetworkFinalsRequest& request, measure::NetworkRunner& runner) {
  const double begin = now_s();
  NetworkFinals report = begin_report(request);
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  FinalsContest contest(request, runner, folder.path());
  if (request.progress) request.progress("Compiling the network with what won alone");
  TW_CHECK(contest.find_candidates());
  const std::vector<size_t>& tried = contest.tasks();
  TW_TRY(const Selection selection, select_in_network(tried.size(), contest, request.selection, request.progress, request.stop));
  const Variant none(tried.size(), false);
  TW_TRY(const auto default_calls, contest.profile(none));
  TW_TRY(const auto tuned_calls, contest.profile(selection.taken));
  for (size_t k = 0; k < tried.size(); ++k) {
    KernelFinal& f = report.kernels[tried[k]];
    f.tried = true;
    f.record = request.tasks[tried[k]].best;
    f.standing = selection.standings[k];
    f.in_place = selection.kernels[k];
    report.taken += selection.taken[k];
  }
  for (KernelFinal& f : report.kernels) {
    f.place_default_s = place_of(f.task_key, contest.facts(none), default_calls).seconds;
    const PlaceOfTask place = place_of(f.task_key, contest.facts(selection.taken), tuned_calls);
    f.place_s = place.seconds;
    f.layouts_s = place.layouts_s;
    f.reason = place.reason;
  }
  report.tried = static_cast<int>(tried.size());
  report.default_s = selection.default_s;
  report.tuned_s = selection.tuned_s;
  report.network = selection.network;
  report.launches = selection.launches;
  report.tuned_estimate_s = summed_seconds(request.tasks, [&](const TriedTask& t) {
    const auto f = std::find_if(report.kernels.begin(), report.kernels.end(), [&](const KernelFinal& k) { return k.task_key == t.task.task.key; });
    return f->tried && f->standing == Standing::taken ? f->best_s : t.default_s;
  });
  report.seconds = now_s() - begin;
  return report;
}

}  // namespace tw::api
