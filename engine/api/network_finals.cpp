// SPDX-License-Identifier: Apache-2.0
#include "engine/api/network_finals.h"

#include <algorithm>
#include <cmath>

#include "engine/api/in_place.h"
#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/measure/weights.h"
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
  Expected<std::optional<records::Record>> best(const std::string& task_key) override {
    const auto it = records.find(task_key);
    return it == records.end() ? std::optional<records::Record>() : std::optional(it->second);
  }
};

/// A compiled variant as a file, and what of it a report needs.
struct Compiled {
  std::string path;
  runtime::Executable facts;  ///< calls, slots and signatures, without code and data
  bool checked = false;
};

class CompiledContest final : public NetworkContest {
 public:
  CompiledContest(const NetworkFinalsRequest& request, measure::NetworkRunner& runner, std::string folder)
      : request_(request), runner_(runner), folder_(std::move(folder)) {
    const double estimate = summed_seconds(request.tasks, [](const TriedTask& t) { return t.default_s; });
    run_limit_s_ = kLeastLimit + kSlack * (estimate + job_.block_s) * 2 * job_.rounds;
    if (request.target->gpu) job_.device = request.device;
  }

  /// The tasks with a winner that the network takes as it was measured.
  Expected<void> find_candidates() {
    std::vector<size_t> wanted;
    for (size_t t = 0; t < request_.tasks.size(); ++t)
      if (const auto& best = request_.tasks[t].best; best && !best->candidate.is_default()) wanted.push_back(t);
    tasks_ = wanted;
    if (wanted.empty()) return {};
    TW_TRY(const Compiled* all, compiled(Variant(wanted.size(), true)));
    std::erase_if(tasks_, [&](size_t t) {
      const std::string& key = request_.tasks[t].task.task.key;
      return std::none_of(all->facts.calls.begin(), all->facts.calls.end(),
                          [&](const runtime::Call& c) { return c.task_key == key && c.space == request_.tasks[t].best->candidate.space; });
    });
    if (tasks_ != wanted) variants_.clear();
    return {};
  }
  const std::vector<size_t>& tasks() const { return tasks_; }

  Expected<std::vector<VariantRuns>> launch(const std::vector<Variant>& variants, uint64_t seed) override {
    measure::NetworkJob job = job_;
    job.seed = seed;
    job.run_limit_s = run_limit_s_;
    std::vector<Compiled*> files;
    for (const Variant& v : variants) {
      TW_TRY(Compiled* file, compiled(v));
      files.push_back(file);
      job.files.push_back(file->path);
      job.outputs |= !file->checked;
    }
    auto ran = run(job);
    if (!ran && ran.error().code != ErrorCode::cancelled && variants.size() > 1) return blame(job, ran.error());
    if (!ran) return ran.error();
    measure::NetworkTimes& times = *ran;
    std::vector<VariantRuns> runs;
    for (size_t v = 0; v < variants.size(); ++v) {
      measure::VariantTimes& t = times.variants[v];
      if (t.calls_s.size() != files[v]->facts.calls.size()) return Error(ErrorCode::infrastructure, "The worker ran another network than it was given");
      runs.push_back({request_.target->gpu ? PartTimes{t.runs_s} : t.calls_s, kernel_times(files[v]->facts, t), {}});
      if (job.outputs) {
        TW_TRY(runs.back().wrong, difference(times.variants[0].outputs, t.outputs));
        files[v]->checked = runs.back().wrong.empty();
      }
    }
    for (size_t v = 0; v < variants.size(); ++v) {
      times.variants[v].outputs.clear();
      profiles_[variants[v]].push_back(std::move(times.variants[v]));
    }
    return runs;
  }

  /// Seconds of each call of a variant: the median over its processes of their medians. Empty if it never ran.
  Expected<std::vector<CallInPlace>> profile(const Variant& variant) {
    const auto ran = profiles_.find(variant);
    if (ran == profiles_.end()) return std::vector<CallInPlace>();
    TW_TRY(const Compiled* file, compiled(variant));
    std::vector<double> seconds;
    std::vector<bool> woke;
    for (size_t c = 0; c < file->facts.calls.size(); ++c) {
      std::vector<double> medians;
      size_t wakes = 0;
      for (const measure::VariantTimes& t : ran->second) {
        medians.push_back(median_of(t.calls_s[c]));
        wakes += t.woke[c];
      }
      seconds.push_back(median_of(std::move(medians)));
      woke.push_back(2 * wakes > ran->second.size());
    }
    return calls_in_place(file->facts, seconds, woke);
  }
  const runtime::Executable& facts(const Variant& variant) const { return variants_.at(variant).facts; }

 private:
  static constexpr double kLeastLimit = 60, kSlack = 20;

  /// What fails is tried again, as it need not be the network's fault.
  Expected<measure::NetworkTimes> run(const measure::NetworkJob& job) {
    for (int attempt = 1;; ++attempt) {
      auto times = runner_.run(job, request_.stop);
      if (times || times.error().code == ErrorCode::cancelled || attempt == measure::kInfraAttempts) return times;
    }
  }

  /// Who of them fails by itself has wrong results; the first, which the others are compared with, must not.
  Expected<std::vector<VariantRuns>> blame(const measure::NetworkJob& job, const Error& why) {
    std::vector<VariantRuns> runs(job.files.size());
    bool blamed = false;
    for (size_t v = 0; v < job.files.size(); ++v) {
      measure::NetworkJob alone = job;
      alone.files = {job.files[v]};
      const auto ran = run(alone);
      if (ran) continue;
      if (v == 0 || ran.error().code == ErrorCode::cancelled) return ran.error();
      runs[v].wrong = ran.error().text();
      blamed = true;
    }
    return blamed ? Expected<std::vector<VariantRuns>>(std::move(runs)) : why;
  }

  Expected<Compiled*> compiled(const Variant& variant) {
    if (const auto known = variants_.find(variant); known != variants_.end()) return &known->second;
    Chosen chosen;
    for (size_t k = 0; k < tasks_.size(); ++k)
      if (variant[k]) chosen.records.emplace(request_.tasks[tasks_[k]].task.task.key, *request_.tasks[tasks_[k]].best);
    // What won alone in another state of the caches is still what is tried: only the network's own times decide.
    CompileOptions options;
    options.stop = request_.stop;
    TW_TRY(runtime::Executable e, compile(*request_.network, *request_.target, &chosen, options));
    e.graph_text.clear();
    e.graph_constants.clear();
    Compiled c{fmt::format("{}/{}.twx", folder_, variants_.size()), {}, false};
    TW_CHECK(runtime::save(e, c.path));
    e.artifact.object.clear();
    e.artifact.gpu.clear();
    for (runtime::Slot& slot : e.slots) slot.data = nullptr;
    c.facts = std::move(e);
    return &variants_.emplace(variant, std::move(c)).first->second;
  }

  /// Per tried task: its calls, and its share of the layout changes beside them.
  std::vector<PartTimes> kernel_times(const runtime::Executable& e, const measure::VariantTimes& times) const {
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

  /// Both may be off by what the operators allow.
  Expected<std::string> difference(const std::vector<HostArray>& want, const std::vector<HostArray>& got) {
    if (tolerances_.empty()) {
      TW_TRY(tolerances_, output_tolerances(request_.network->imported, request_.target->allows_tf32()));
    }
    if (want.size() != got.size() || want.size() > tolerances_.size()) return Error(ErrorCode::infrastructure, "The worker sent other outputs than the network's");
    for (size_t i = 0; i < want.size(); ++i) {
      if (want[i].shape != got[i].shape || want[i].dtype != got[i].dtype) return Error(ErrorCode::infrastructure, "The worker sent other outputs than the network's");
      const double off = compare(got[i], want[i]).max_rel;
      if (!(off <= 2 * tolerances_[i])) return fmt::format("output {} differs by {:.3g} from the default network's, where {:.3g} is allowed", i, off, 2 * tolerances_[i]);
    }
    return std::string();
  }

  const NetworkFinalsRequest& request_;
  measure::NetworkRunner& runner_;
  const std::string folder_;
  measure::NetworkJob job_;
  double run_limit_s_;
  std::vector<size_t> tasks_;  ///< per kernel of the variants, its number in the request
  std::map<Variant, Compiled> variants_;
  std::map<Variant, std::vector<measure::VariantTimes>> profiles_;  ///< of every process that ran it
  std::vector<double> tolerances_;
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

records::Weights weights_of(const Network& network, const Target& target) {
  int64_t bytes = 0;
  for (const graph::Value& v : network.optimized.values) bytes += v.constant ? static_cast<int64_t>(v.constant->data.size()) : 0;
  return measure::weights_in_network(target, bytes);
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
  TW_TRY(const auto runner, measure::network_runner(request.workers, request.progress));
  return run_network_finals(request, *runner);
}

Expected<NetworkFinals> run_network_finals(const NetworkFinalsRequest& request, measure::NetworkRunner& runner) {
  const double begin = now_s();
  NetworkFinals report = begin_report(request);
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  CompiledContest contest(request, runner, folder.path());
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
