// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/simulated_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/lower/lower.h"
#include "engine/simulate/kernel_time.h"
#include "engine/simulate/legality.h"

namespace tw::measure {
namespace {

using records::Status;

/// How far a kernel is from the formula, as the standard deviation of a logarithm.
constexpr double kBias = 0.08;
/// Noise of one sample of kernels of 10 us and below, and of 100 us and above.
constexpr double kShortNoise = 0.05, kLongNoise = 0.01;
/// Share of samples that something disturbs, and how much they take longer at least and at most.
constexpr double kDisturbed = 0.01, kLeastDelay = 1.2, kMostDelay = 2;

constexpr int kSamples = 5;

/// What stands in an artifact in place of code.
struct SimulatedPayload {
  double seconds = 0;
  uint64_t identity = 0;
};

uint64_t identity(const records::Task& task, const records::Candidate& c) { return stable_hash(task.key + "\n" + schedule::json_text(c.steps)); }

double noise_of(double seconds) {
  const double at = std::clamp(std::log10(seconds / 1e-5), 0.0, 1.0);
  return kShortNoise + at * (kLongNoise - kShortNoise);
}

class SimulatedBuilder : public Builder {
 public:
  std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    return build(task, candidates, Registers::estimated, stop);
  }
  std::vector<BuildOutcome> build_finalists(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    return build(task, candidates, Registers::compiled, stop);
  }

 private:
  static std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, Registers registers,
                                         const StopToken& stop) {
    std::vector<BuildOutcome> outcomes;
    for (const records::Candidate& c : candidates)
      outcomes.push_back(stop.stop_requested() ? BuildOutcome{Status::cancelled, "Cancelled", nullptr, 0} : build_one(task, c, registers));
    return outcomes;
  }

  static BuildOutcome build_one(const records::Task& task, const records::Candidate& c, Registers registers) {
    const double start = unix_now_s();
    const auto ended = [&](Status status, const std::string& message, std::shared_ptr<runtime::Artifact> artifact = nullptr) {
      return BuildOutcome{status, message, std::move(artifact), unix_now_s() - start};
    };
    try {
      const auto schedule = schedule::Schedule::replay(task.dag, c.steps);
      if (!schedule) return ended(Status::lower_fail, schedule.error().text());
      const auto seconds = simulated_seconds(*schedule, task.target, registers);
      if (!seconds) return ended(seconds.error().code == ErrorCode::resource_limit ? Status::build_fail : Status::lower_fail, seconds.error().text());
      const uint64_t id = identity(task, c);
      Rng rng(hash_combine(stable_hash(task.target.str()), id));
      const SimulatedPayload payload{*seconds * std::exp(kBias * rng.normal()), id};
      auto artifact = std::make_shared<runtime::Artifact>();
      artifact->target = task.target.str();
      artifact->object.resize(sizeof(payload));
      std::memcpy(artifact->object.data(), &payload, sizeof(payload));
      artifact->kernels.push_back({"simulated", {}});
      return ended(Status::ok, {}, std::move(artifact));
    } catch (const InternalError& e) {
      return ended(Status::infra, fmt::format("Internal error: {}", e.what()));
    }
  }
};

class SimulatedRunner : public Runner {
 public:
  std::vector<records::MeasureResult> run(const records::Task&, std::span<const BuildOutcome> builds, const RunOptions& run, StopToken stop) override {
    std::vector<records::MeasureResult> results;
    for (const BuildOutcome& b : builds) results.push_back(run_one(b, run, stop.stop_requested()));
    return results;
  }

 private:
  records::MeasureResult run_one(const BuildOutcome& build, const RunOptions& run, bool stopped) const {
    records::MeasureResult r;
    r.timestamp_s = unix_now_s();
    if (stopped) {
      r.status = Status::cancelled;
      return r;
    }
    SimulatedPayload payload;
    if (!build.artifact || build.artifact->object.size() != sizeof(payload) || build.artifact->kernels.size() != 1 ||
        build.artifact->kernels[0].name != "simulated") {
      r.message = "Expected an artifact of the simulated GPU's builder, found another";
      return r;
    }
    std::memcpy(&payload, build.artifact->object.data(), sizeof(payload));
    r.status = Status::ok;
    Rng rng(hash_combine(run.noise_seed(), payload.identity));
    const double noise = noise_of(payload.seconds);
    const int samples = run.samples > 0 ? run.samples : kSamples;
    for (int i = 0; i < samples; ++i) {
      const bool disturbed = rng.uniform_real() < kDisturbed;
      r.samples_s.push_back(payload.seconds * std::exp(noise * rng.normal()) * (disturbed ? kLeastDelay + (kMostDelay - kLeastDelay) * rng.uniform_real() : 1));
      r.sample_flags.push_back(disturbed);
    }
    r.verified = run.verify;
    return r;
  }
};

}  // namespace

Expected<std::vector<int>> compiled_registers(const tir::Func& lowered, const target::Gpu& gpu) {
  static std::mutex mutex;
  static std::unordered_map<uint64_t, std::vector<int>> known;
  const auto archs = codegen::nvrtc_archs();
  if (!archs || !std::binary_search(archs->begin(), archs->end(), gpu.capability)) return std::vector<int>{};
  TW_TRY(const codegen::CudaSource source, codegen::cuda_source(lowered));
  const uint64_t key = hash_combine(stable_hash(source.text), static_cast<uint64_t>(gpu.capability));
  {
    const std::scoped_lock lock(mutex);
    if (const auto it = known.find(key); it != known.end()) return it->second;
  }
  TW_TRY(const codegen::CudaBinary binary, codegen::nvrtc_compile(source.text, gpu.capability));
  std::vector<int> out;
  for (const codegen::CudaKernel& k : source.kernels) {
    const codegen::KernelResources* r = codegen::find_resources(binary.kernels, k.name);
    if (!r) return Error(ErrorCode::infrastructure, "Expected NVRTC to name the registers of '" + k.name + "', found none in its log");
    out.push_back(r->registers + static_cast<int>((r->spill_store_bytes + 3) / 4));
  }
  const std::scoped_lock lock(mutex);
  known.emplace(key, out);
  return out;
}

Expected<double> simulated_seconds(const schedule::Schedule& schedule, const Target& target, Registers registers) {
  TW_ASSERT(target.gpu.has_value(), "a simulated GPU needs a target with one");
  TW_TRY(const tir::Func func, lower::lower_and_optimize(schedule, "kernel", target));
  return simulated_seconds(func, *target.gpu, registers);
}

Expected<double> simulated_seconds(const tir::Func& func, const target::Gpu& gpu, Registers registers) {
  TW_CHECK(simulate::check_launches(func, gpu));
  TW_TRY(const auto launches, simulate::launch_facts(func));
  std::vector<int> counted;
  if (registers == Registers::compiled) {
    TW_TRY(counted, compiled_registers(func, gpu));
  }
  double seconds = 0;
  for (size_t k = 0; k < launches.size(); ++k) {
    const simulate::KernelTime t = simulate::kernel_time(launches[k], gpu, counted.empty() ? std::nullopt : std::optional(counted[k]));
    if (!(t.total > 0))
      return Error(ErrorCode::resource_limit, fmt::format("Expected a block that fits on a multiprocessor of {}, found one limited by {}", gpu.name,
                                                          target::limit_name(t.occupancy.limit)));
    seconds += t.total;
  }
  return seconds;
}

std::unique_ptr<Builder> simulated_gpu_builder() { return std::make_unique<SimulatedBuilder>(); }
std::unique_ptr<Runner> simulated_gpu_runner() { return std::make_unique<SimulatedRunner>(); }

}  // namespace tw::measure
