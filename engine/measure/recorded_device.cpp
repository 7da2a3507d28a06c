// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/recorded_device.h"

#include <cstring>
#include <map>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/schedule/fingerprint.h"

namespace tw::measure {
namespace {

using records::Status;

constexpr const char* kKernel = "recorded";

/// What stands in an artifact in place of code: the trial, which lives as long as the device's table.
struct RecordedPayload {
  const records::Record* trial = nullptr;
};

class RecordedBuilder : public Builder {
 public:
  explicit RecordedBuilder(std::shared_ptr<const records::RecordedTrials> trials) : trials_(std::move(trials)) {}

  std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    std::vector<BuildOutcome> outcomes;
    for (const records::Candidate& c : candidates)
      outcomes.push_back(stop.stop_requested() ? BuildOutcome{Status::cancelled, "Cancelled", nullptr, 0} : build_one(task, c));
    return outcomes;
  }

  std::optional<std::vector<int64_t>> points(const records::Task& task, const std::string& space) override { return trials_->points(task.key, space); }

 private:
  BuildOutcome build_one(const records::Task& task, const records::Candidate& c) {
    const records::Record* found = trials_->find(task.key, c);
    if (found == nullptr && c.index < 0 && c.fingerprint != 0) found = point_like(task, c.fingerprint);
    const RecordedPayload payload{found};
    if (payload.trial == nullptr) return {Status::not_recorded, "No trial of this candidate was recorded", nullptr, 0};
    auto artifact = std::make_shared<runtime::Artifact>();
    artifact->target = task.target.str();
    artifact->object.resize(sizeof(payload));
    std::memcpy(artifact->object.data(), &payload, sizeof(payload));
    artifact->kernels.push_back({kKernel, {}});
    return {Status::ok, {}, std::move(artifact), payload.trial->result.build_s};
  }

  /// The trial of a point that comes to the same schedule as a candidate without a number; null if there is none.
  const records::Record* point_like(const records::Task& task, uint64_t fingerprint) {
    const auto [of, fresh] = alike_.try_emplace(task.key);
    if (fresh) {
      for (const records::Record* r : trials_->all(task.key)) {
        if (r->candidate.index < 0 || r->candidate.steps.empty()) continue;
        if (const auto schedule = schedule::Schedule::replay(task.dag, r->candidate.steps)) of->second.emplace(schedule::fingerprint(*schedule), r);
      }
    }
    const auto found = of->second.find(fingerprint);
    return found == of->second.end() ? nullptr : found->second;
  }

  std::shared_ptr<const records::RecordedTrials> trials_;
  std::map<std::string, std::map<uint64_t, const records::Record*>> alike_;  ///< points by fingerprint, of tasks that were asked for one
};

/// As many samples as asked for, each one of those recorded.
void draw_samples(records::MeasureResult& r, int count, uint64_t seed) {
  const std::vector<double> recorded = std::exchange(r.samples_s, {});
  const std::vector<bool> flags = std::exchange(r.sample_flags, {});
  Rng rng(seed);
  for (int i = 0; i < count && !recorded.empty(); ++i) {
    const size_t k = rng.uniform(recorded.size());
    r.samples_s.push_back(recorded[k]);
    r.sample_flags.push_back(k < flags.size() && flags[k]);
  }
}

class RecordedRunner : public Runner {
 public:
  explicit RecordedRunner(std::shared_ptr<const records::RecordedTrials> trials) : trials_(std::move(trials)) {}

  std::vector<records::MeasureResult> run(const records::Task&, std::span<const BuildOutcome> builds, const RunOptions& run, StopToken stop) override {
    std::vector<records::MeasureResult> results;
    for (const BuildOutcome& b : builds) results.push_back(run_one(b, run, stop.stop_requested()));
    return results;
  }

 private:
  static records::MeasureResult run_one(const BuildOutcome& build, const RunOptions& run, bool stopped) {
    records::MeasureResult r;
    RecordedPayload payload;
    if (stopped) {
      r.status = Status::cancelled;
      return r;
    }
    if (!build.artifact || build.artifact->object.size() != sizeof(payload) || build.artifact->kernels.size() != 1 ||
        build.artifact->kernels[0].name != kKernel) {
      r.message = "Expected an artifact of the recorded device's builder, found another";
      return r;
    }
    std::memcpy(&payload, build.artifact->object.data(), sizeof(payload));
    r = payload.trial->result;
    r.verdict.reset();
    r.timestamp_s = 0;  // the time of the replay is that of now
    const uint64_t identity = records::identity(payload.trial->candidate);
    if (run.samples > 0) draw_samples(r, run.samples, hash_combine(run.noise_seed(), identity));
    return r;
  }

  std::shared_ptr<const records::RecordedTrials> trials_;  ///< keeps the trials of artifacts
};

}  // namespace

Device recorded_device(std::string name, std::shared_ptr<const records::RecordedTrials> trials) {
  Device device;
  device.name = std::move(name);
  device.builder = std::make_unique<RecordedBuilder>(trials);
  device.runner = std::make_unique<RecordedRunner>(std::move(trials));
  return device;
}

}  // namespace tw::measure
