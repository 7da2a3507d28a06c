// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/farm_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/measure/judge.h"
#include "engine/target/bounds.h"

namespace tw::farm {

namespace {

using records::MeasureResult;
using records::Status;

constexpr double kWaitSeconds = 0.5, kSaySeconds = 5;
/// Changes of a device's references after which its relation is measured again; as tune/drift.h has them for a machine.
constexpr double kComputeDrift = 0.03, kMemoryDrift = 0.15;
/// A device's rate was measured at another moment, perhaps at a lower clock; what is faster than twice of it is no time.
constexpr double kPeakSlack = 2;
constexpr int kAnchorAttempts = 3;

double change(double then, double now) { return then > 0 && now > 0 ? std::abs(now / then - 1) : 0; }
bool drifted(const measure::References& then, const measure::References& now) {
  return change(then.flop_per_s, now.flop_per_s) > kComputeDrift || change(then.bytes_per_s, now.bytes_per_s) > kMemoryDrift;
}

void scale(MeasureResult& r, double ratio) {
  for (double& s : r.samples_s) s *= ratio;
}

}  // namespace

/// One candidate of a batch.
struct FarmRunner::Slot {
  size_t index = 0;
  measure::MeasureJob job;                               ///< without a best time
  std::map<std::string, Job::Known> known;
  std::shared_ptr<const std::vector<std::byte>> object;  ///< of a GPU's kernel, its image
  Json gpu;                                              ///< how that is launched; null for processors
  std::string sha, trial;
  int attempts = 0;
  Clock::time_point put;
  std::optional<MeasureResult> best;
  bool done = false;
};

struct FarmRunner::Batch {
  const records::Task& task;
  std::span<const measure::BuildOutcome> builds;
  const measure::RunOptions& options;
  std::shared_ptr<const measure::Reference> reference;
  std::string device;  ///< that measures all of it; empty: any of the kind
  std::vector<Slot> slots;
  std::vector<MeasureResult> results;
  size_t left = 0;
  struct Held {
    size_t slot;
    std::string device;
    MeasureResult result;
  };
  std::vector<Held> held;  ///< until their devices are related to the home
  struct AnchorRun {
    std::string device;
    int attempts = 0;
    Clock::time_point put;
  };
  std::map<std::string, AnchorRun> anchors;  ///< that run, by trial
  std::map<std::string, int> anchor_attempts;
  std::optional<Error> broken;               ///< why nothing goes on
  Clock::time_point said = Clock::now();
};

Expected<std::unique_ptr<measure::Runner>> FarmRunner::open(Queue::Options options, const measure::WorkerOptions& workers) {
  std::unique_ptr<FarmRunner> runner(new FarmRunner(std::move(options), workers));
  TW_CHECK(runner->queue_.open());
  return std::unique_ptr<measure::Runner>(std::move(runner));
}

FarmRunner::FarmRunner(Queue::Options options, const measure::WorkerOptions& workers)
    : JudgingRunner(workers.memory_bytes),
      queue_([&] {
        options.notice = [this](const std::string& text) { say(text); };
        return options;
      }()),
      options_(options),
      nonce_(random_hex(8)) {}

FarmRunner::~FarmRunner() {
  static_cast<void>(queue_.settle());
  queue_.cancel();
}

Expected<measure::References> FarmRunner::references(StopToken stop) {
  static_cast<void>(stop);
  const auto known = heard_.find(home_);
  return known == heard_.end() ? measure::References{} : known->second;
}

std::string FarmRunner::trial_name(const records::Task& task, const measure::MeasureJob& job, const std::string& sha, const std::string& also) {
  Json description = measure::to_json(job);
  description.erase("id");
  const std::string base = content_key(fmt::format("{}\n{}\n{}\n{}\n{}", options_.session, task.key, sha, dump_json(description), also));
  return fmt::format("t{}-{}", base, named_[base]++);
}

void FarmRunner::put(Batch& b, Slot& s, StopToken stop) {
  if (b.broken) return;
  Job job;
  // Candidates that run against each other do so at one time: what an earlier life of the session measured of them is not used.
  const bool competing = b.options.samples > 0;
  s.trial = trial_name(b.task, s.job, s.sha, competing ? nonce_ : "");
  job.trial = s.trial;
  job.session = options_.session;
  job.kind = options_.kind;
  job.target = b.task.target.str();
  job.sha = s.sha;
  job.bytes = static_cast<int64_t>(s.object->size());
  job.measure = measure::to_json(s.job);
  if (!s.gpu.is_null()) job.measure["gpu"] = s.gpu;
  job.devices = s.known;
  ++s.attempts;
  s.put = Clock::now();
  if (s.attempts > 1) queue_.doubt(s.sha);
  if (const auto done = queue_.put(job, s.object, b.device, stop); !done) b.broken = done.error();
}

void FarmRunner::put_anchor(Batch& b, const std::string& device, StopToken stop) {
  const Anchor& a = anchors_[b.task.key];
  for (const auto& [trial, run] : b.anchors)
    if (run.device == device) return;
  Job job;
  job.sha = sha256_hex(*a.object);
  job.trial = trial_name(b.task, a.job, job.sha, nonce_ + device);
  job.session = options_.session;
  job.kind = options_.kind;
  job.target = b.task.target.str();
  job.bytes = static_cast<int64_t>(a.object->size());
  job.measure = measure::to_json(a.job);
  if (!a.gpu.is_null()) job.measure["gpu"] = a.gpu;
  b.anchors[job.trial] = {device, ++b.anchor_attempts[device], Clock::now()};
  if (const auto done = queue_.put(job, a.object, device, stop); !done) b.broken = done.error();
}

MeasureResult FarmRunner::judged(const records::Task& task, const Result& result, measure::MeasureJob job, const measure::Reference* reference, double wall_s) {
  if (!result.refused.empty()) return failure(Status::infra, fmt::format("{}: {}", result.device, result.refused));
  const auto reply = measure::reply_from_frame(result.reply, job);
  if (!reply) return failure(Status::infra, reply.error().text());
  MeasureResult out = judge(job, *reply, reference, wall_s);
  const double peak = peaks_[result.device] * kPeakSlack * job.cores;
  const auto floor_s = [&] {
    return task.target.gpu ? measure::physical_floor_s(*task.dag, target::most_flops(task.target), target::most_narrow_speedup(task.target))
                           : measure::physical_floor_s(*task.dag, peak);
  };
  if (const double floor = out.ok() ? floor_s() : 0; out.ok() && out.seconds() < floor) {
    out.message = fmt::format("{} is less than the {} that '{}' needs for the task's arithmetic", si_text(out.seconds(), "s"), si_text(floor, "s"), result.device);
    out.status = Status::bad_timing;
  }
  return out;
}

std::vector<MeasureResult> FarmRunner::run(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& options, StopToken stop) {
  // Whoever asks again has stored what was told before.
  static_cast<void>(queue_.settle());
  const auto reference = reference_for(task, builds, options);
  Batch b{.task = task, .builds = builds, .options = options, .reference = reference ? *reference : nullptr};
  b.results.resize(builds.size());
  b.slots.resize(builds.size());
  if (options.samples > 0) b.device = home_;
  const Anchor& anchor = anchors_[task.key];
  for (size_t i = 0; i < builds.size(); ++i) {
    Slot& s = b.slots[i];
    s.index = i;
    const auto refuse = [&](Status status, const std::string& why) {
      b.results[i] = failure(status, why);
      b.results[i].build_s = builds[i].seconds;
      b.results[i].timestamp_s = unix_now_s();
      s.done = true;
      moved(i, measure::Stage::measured);
    };
    if (builds[i].status != Status::ok) {
      refuse(builds[i].status, builds[i].message);
      continue;
    }
    if (!reference) {
      refuse(Status::infra, reference.error().message);
      continue;
    }
    auto job = job_for(task, *builds[i].artifact, b.reference.get(), options, 0);
    if (!job) {
      refuse(Status::infra, job.error().message);
      continue;
    }
    if (task.target.gpu && (builds[i].artifact->gpu.size() != 1 || builds[i].artifact->gpu[0].images.size() != 1)) {
      refuse(Status::infra, "Expected one kernel with one image of machine code");
      continue;
    }
    s.job = std::move(*job);
    s.job.id = 0;  // the trial's name says which one it is
    for (const auto& [device, relation] : anchor.relations) {
      if (options.incumbent_s <= 0) break;
      const auto there = job_for(task, *builds[i].artifact, b.reference.get(), options, options.incumbent_s / relation.ratio);
      if (there) s.known[device] = {there->incumbent_s, there->verify_below_s, there->run_limit_s};
    }
    if (task.target.gpu) s.gpu = runtime::to_json(builds[i].artifact->gpu[0]);
    s.object = std::make_shared<const std::vector<std::byte>>(task.target.gpu ? builds[i].artifact->gpu[0].images.begin()->second : builds[i].artifact->object);
    s.sha = sha256_hex(*s.object);
    ++b.left;
    moved(i, measure::Stage::running);
    put(b, s, stop);
  }
  while (b.left > 0 && !b.broken && !stop.stop_requested()) {
    const auto arrived = queue_.receive(kWaitSeconds, stop);
    if (!arrived) {
      b.broken = arrived.error();
      break;
    }
    for (const Result& r : *arrived) take(b, r, stop);
    look_after(b, stop);
  }
  if (b.left > 0) {
    queue_.cancel();
    for (Slot& s : b.slots) {
      if (s.done) continue;
      const bool stopped = stop.stop_requested() || !b.broken;
      b.results[s.index] = failure(stopped ? Status::cancelled : Status::infra, stopped ? "Stopped before it was measured" : b.broken->text());
      b.results[s.index].build_s = builds[s.index].seconds;
      b.results[s.index].timestamp_s = unix_now_s();
    }
  }
  return std::move(b.results);
}

void FarmRunner::take(Batch& b, const Result& r, StopToken stop) {
  if (r.references.flop_per_s > 0) {
    heard_[r.device] = r.references;
    peaks_[r.device] = std::max(peaks_[r.device], r.references.flop_per_s);
  }
  const auto seen = queue_.devices().find(r.device);
  if (seen != queue_.devices().end() && seen->second.presence.emulated) say(fmt::format("'{}' is an emulator: its times are emulated, not a processor's", r.device));
  if (const auto anchor = b.anchors.find(r.trial); anchor != b.anchors.end()) {
    const Batch::AnchorRun run = anchor->second;
    b.anchors.erase(anchor);
    return take_anchor(b, run.device, r, stop);
  }
  const auto slot = std::find_if(b.slots.begin(), b.slots.end(), [&](const Slot& s) { return s.trial == r.trial && !s.done; });
  if (slot == b.slots.end()) return;
  measure::MeasureJob job = slot->job;
  if (const auto known = slot->known.find(r.device); known != slot->known.end()) job.verify_below_s = known->second.verify_below_s;
  MeasureResult result = judged(b.task, r, job, b.reference.get(), since(slot->put));
  Anchor& a = anchors_[b.task.key];
  if (result.ok() && home_.empty()) home_ = r.device;
  if (result.ok() && !result.censored && !a.object) {
    a.job = slot->job;
    a.job.samples = 0;
    a.reference = b.reference;
    a.object = slot->object;
    a.gpu = slot->gpu;
    a.seconds[r.device] = result.seconds();
  }
  if (result.ok() && !relate(b, r.device, result, stop)) {
    b.held.push_back({slot->index, r.device, std::move(result)});
    return;
  }
  end(b, *slot, r.device, std::move(result), stop);
}

bool FarmRunner::relate(Batch& b, const std::string& device, MeasureResult& result, StopToken stop) {
  Anchor& a = anchors_[b.task.key];
  const measure::References now = heard_[device];
  if (const auto known = a.relations.find(device); known != a.relations.end()) {
    if (device == home_ || !drifted(known->second.then, now)) {
      scale(result, known->second.ratio);
      return true;
    }
    a.relations.erase(known);
    a.seconds.erase(device);
  }
  if (device == home_) {
    a.relations[device] = {1, now};
    return true;
  }
  // Through the home, or through another device that is related to it where the home is gone.
  std::string bridge = home_;
  if (!a.seconds.contains(home_) && !queue_.is_here(home_)) {
    bridge.clear();
    for (const auto& [other, relation] : a.relations)
      if (a.seconds.contains(other)) bridge = other;
  }
  if (bridge.empty()) {
    say(fmt::format("The device '{}' is gone; the times of {} are those of '{}', and nothing relates them to earlier ones", home_, b.task.name, device));
    a.relations[device] = {1, now};
    return true;
  }
  for (const std::string& there : {device, bridge})
    if (!a.seconds.contains(there)) put_anchor(b, there, stop);
  if (!a.seconds.contains(device) || !a.seconds.contains(bridge)) return false;
  const double to_home = bridge == home_ ? 1 : a.relations[bridge].ratio;
  const Relation relation{to_home * a.seconds[bridge] / a.seconds[device], now};
  a.relations[device] = relation;
  say(fmt::format("'{}' takes {:.2f} times as long as '{}' for {}; its times are told in seconds of '{}'", device, 1 / relation.ratio, home_, b.task.name, home_));
  scale(result, relation.ratio);
  return true;
}

void FarmRunner::take_anchor(Batch& b, const std::string& device, const Result& r, StopToken stop) {
  Anchor& a = anchors_[b.task.key];
  const MeasureResult result = judged(b.task, r, a.job, a.reference.get(), std::numeric_limits<double>::infinity());
  if (result.ok()) {
    a.seconds[device] = result.seconds();
  } else if (result.status == Status::wrong_output) {
    quarantine(device, fmt::format("a kernel that is right elsewhere gives wrong values: {}", result.message));
  } else if (b.anchor_attempts[device] < kAnchorAttempts) {
    put_anchor(b, device, stop);
    return;
  } else {
    quarantine(device, fmt::format("the kernel that relates its times to others' does not run: {}", result.message));
  }
  std::vector<Batch::Held> held;
  std::swap(held, b.held);
  for (Batch::Held& h : held) {
    Slot& slot = b.slots[h.slot];
    if (!result.ok() && h.device == device) {
      put(b, slot, stop);  // by another device
    } else if (!result.ok() && device == home_) {
      a.relations[h.device] = {1, heard_[h.device]};  // the home cannot say anything of this task any more
      end(b, slot, h.device, std::move(h.result), stop);
    } else if (relate(b, h.device, h.result, stop)) {
      end(b, slot, h.device, std::move(h.result), stop);
    } else {
      b.held.push_back(std::move(h));
    }
  }
}

void FarmRunner::end(Batch& b, Slot& s, const std::string& device, MeasureResult result, StopToken stop) {
  static_cast<void>(device);
  if (!s.best || !s.best->ok() || (result.ok() && result.seconds() < s.best->seconds())) s.best = std::move(result);
  if (deserves_another(*s.best, s.attempts) && !stop.stop_requested() && !b.broken) return put(b, s, stop);
  MeasureResult& out = b.results[s.index];
  out = std::move(*s.best);
  out.build_s = b.builds[s.index].seconds;
  out.timestamp_s = unix_now_s();
  s.done = true;
  --b.left;
  moved(s.index, measure::Stage::measured);
}

void FarmRunner::quarantine(const std::string& device, const std::string& reason) {
  say(fmt::format("The device '{}' is quarantined: {}", device, reason));
  static_cast<void>(queue_.control(device, Json{{"command", "quarantine"}, {"reason", reason}}));
}

void FarmRunner::look_after(Batch& b, StopToken stop) {
  if (since(b.said) < kSaySeconds) return;
  b.said = Clock::now();
  int here = 0, taking = 0;
  for (const auto& [device, seen] : queue_.devices()) {
    if (!queue_.is_here(device)) continue;
    ++here;
    taking += seen.presence.phase == "idle" || seen.presence.phase == "measuring";
  }
  if (here == 0) say(fmt::format("Waiting for a device of kind '{}' of the farm '{}'", options_.kind, options_.access.farm));
  if (here > 0 && taking == 0) say(fmt::format("Waiting: none of {} devices of kind '{}' takes jobs; `tw farm devices` says why", here, options_.kind));
  if (!b.device.empty() && !queue_.is_here(b.device)) {
    say(fmt::format("The device '{}' is gone; another one goes on", b.device));
    b.device.clear();
    for (Slot& s : b.slots)
      if (!s.done)
        if (const auto moved_on = queue_.put_for_any(s.trial, stop); !moved_on) b.broken = moved_on.error();
  }
  // What relates a device that is gone is not waited for.
  for (auto run = b.anchors.begin(); run != b.anchors.end();) {
    if (queue_.is_here(run->second.device) || since(run->second.put) < kLostSeconds) {
      ++run;
      continue;
    }
    const std::string device = run->second.device;
    run = b.anchors.erase(run);
    std::vector<Batch::Held> held;
    std::swap(held, b.held);
    for (Batch::Held& h : held) {
      if (h.device == device) {
        put(b, b.slots[h.slot], stop);
      } else if (relate(b, h.device, h.result, stop)) {
        end(b, b.slots[h.slot], h.device, std::move(h.result), stop);
      } else {
        b.held.push_back(std::move(h));
      }
    }
    break;  // relate() may have put others in
  }
}

}  // namespace tw::farm
