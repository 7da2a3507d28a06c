// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/analytic_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/rng.h"

namespace tw::measure {
namespace {

using records::Status;

/// What stands in an artifact in place of code.
struct Payload {
  double seconds = 0;
  uint64_t identity = 0;  ///< of task and candidate; seeds the noise
};

uint64_t identity(const records::Task& task, const records::Candidate& c) {
  const std::string text = task.key + "\n" + c.space + "\n" + std::to_string(c.index) + "\n" + (c.index < 0 ? schedule::json_text(c.steps) : std::string());
  return stable_hash(text);
}

/// How a candidate ends, decided by what it is. The default schedule always works.
Status fate(uint64_t id, const AnalyticOptions& o) {
  constexpr Status kFailures[] = {Status::build_fail, Status::run_crash, Status::run_timeout, Status::wrong_output};
  Rng rng(hash_combine(o.seed, id));
  if (rng.uniform_real() >= o.failure_rate) return Status::ok;
  return kFailures[rng.uniform(std::size(kFailures))];
}

class AnalyticBuilder : public Builder {
 public:
  explicit AnalyticBuilder(AnalyticOptions options) : options_(std::move(options)) {}

  std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    std::vector<BuildOutcome> outcomes;
    for (const records::Candidate& c : candidates)
      outcomes.push_back(stop.stop_requested() ? BuildOutcome{Status::cancelled, "Cancelled", nullptr, 0} : build_one(task, c));
    return outcomes;
  }

 private:
  BuildOutcome build_one(const records::Task& task, const records::Candidate& c) const {
    const Payload payload{options_.seconds ? options_.seconds(task, c) : analytic_seconds(task, c, options_.peak_flop_per_s), identity(task, c)};
    if (c.index >= 0 && fate(payload.identity, options_) == Status::build_fail)
      return {Status::build_fail, "The formula's compiler refuses this candidate", nullptr, 0};
    auto artifact = std::make_shared<runtime::Artifact>();
    artifact->target = task.target.str();
    artifact->object.resize(sizeof(payload));
    std::memcpy(artifact->object.data(), &payload, sizeof(payload));
    artifact->kernels.push_back({c.is_default() ? "default" : "point", {}});
    return {Status::ok, {}, std::move(artifact), 0};
  }

  AnalyticOptions options_;
};

class AnalyticRunner : public Runner {
 public:
  explicit AnalyticRunner(AnalyticOptions options) : options_(std::move(options)) {}

  std::vector<records::MeasureResult> run(const records::Task&, std::span<const BuildOutcome> builds, const RunOptions& run, StopToken stop) override {
    std::vector<records::MeasureResult> results;
    for (const BuildOutcome& b : builds) {
      records::MeasureResult cancelled;
      cancelled.status = Status::cancelled;
      results.push_back(stop.stop_requested() ? cancelled : run_one(b, run));
    }
    return results;
  }

 private:
  records::MeasureResult run_one(const BuildOutcome& build, const RunOptions& run) const {
    records::MeasureResult r;
    Payload payload;
    if (!build.artifact || build.artifact->object.size() != sizeof(payload) || build.artifact->kernels.size() != 1) {
      r.message = "Expected an artifact of the analytic builder, found another";
      return r;
    }
    std::memcpy(&payload, build.artifact->object.data(), sizeof(payload));
    if (build.artifact->kernels[0].name == "point")
      r.status = fate(payload.identity, options_);
    else
      r.status = Status::ok;
    const bool compared = run.verifies(payload.seconds, run.incumbent_s);
    if (r.status == Status::wrong_output && !compared) r.status = Status::ok;
    if (!r.ok()) {
      r.message = "The formula's machine fails with this candidate";
      return r;
    }
    Rng rng(hash_combine(hash_combine(options_.seed, run.noise_seed()), payload.identity));
    for (int i = 0; i < options_.samples; ++i) r.samples_s.push_back(payload.seconds * (1 + std::abs(rng.normal()) * options_.noise));
    r.sample_flags.assign(r.samples_s.size(), false);
    r.verified = compared;
    return r;
  }

  AnalyticOptions options_;
};

}  // namespace

double analytic_seconds(const records::Task& task, const records::Candidate& candidate, double peak_flop_per_s) {
  constexpr double kIdeal = 16, kSharpness = 0.15;
  double distance = candidate.steps.empty() ? 4 : 0;
  for (const schedule::Step& step : candidate.steps) {
    const auto* split = std::get_if<schedule::SplitStep>(&step);
    if (!split) continue;
    for (const int64_t length : split->lengths) distance += std::abs(std::log2(static_cast<double>(std::max<int64_t>(length, 1)) / kIdeal));
  }
  return static_cast<double>(std::max<int64_t>(task.flops, 1)) / peak_flop_per_s * std::exp(kSharpness * distance);
}

std::unique_ptr<Builder> analytic_builder(AnalyticOptions options) { return std::make_unique<AnalyticBuilder>(std::move(options)); }
std::unique_ptr<Runner> analytic_runner(AnalyticOptions options) { return std::make_unique<AnalyticRunner>(std::move(options)); }

}  // namespace tw::measure
