// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/hash.h"
#include "engine/base/stop_token.h"
#include "engine/measure/counters.h"
#include "engine/measure/inputs.h"
#include "engine/measure/references.h"
#include "engine/records/record.h"
#include "engine/runtime/artifact.h"

/// Building and timing candidates in child processes that may crash, hang or run out of memory.
namespace tw::measure {

struct BuildOutcome {
  records::Status status = records::Status::infra;  ///< ok if artifact is set
  std::string message;
  std::shared_ptr<const runtime::Artifact> artifact;
  double seconds = 0;
};

/// Where a candidate of a batch is. Being built takes lowering and compiling, being run takes filling arguments, loading, timing and verifying.
enum class Stage : uint8_t { waiting, building, built, running, measured };
/// Whoever wants to see candidates move hears of each by its place in the batch, on the thread of the call.
using StageSink = std::function<void(size_t candidate, Stage stage)>;

/// Candidates to object code.
class Builder {
 public:
  virtual ~Builder() = default;
  /// Who is told as candidates of the next calls begin and end; empty: nobody.
  void watch(StageSink sink) { watch_ = std::move(sink); }
  /// One outcome per candidate, in order. Blocks; returns early with `cancelled` outcomes when stopped.
  virtual std::vector<BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) = 0;
  /// The same for the few that run against each other in the end: for builders that can take more time to be exact.
  virtual std::vector<BuildOutcome> build_finalists(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) {
    return build(task, candidates, stop);
  }
  /// The points of a space that it can build at all, ascending, for a search to propose no others; nothing: any.
  virtual std::optional<std::vector<int64_t>> points(const records::Task& task, const std::string& space) {
    static_cast<void>(task), static_cast<void>(space);
    return std::nullopt;
  }

 protected:
  void moved(size_t candidate, Stage stage) {
    if (watch_) watch_(candidate, stage);
  }

 private:
  StageSink watch_;
};

/// How a run is limited and timed; the protocol of each number is described in runner.cpp.
struct RunOptions {
  double incumbent_s = 0;  ///< best time so far; 0 if none. Clearly slower candidates stop early
  double timeout_s = 10;   ///< wall limit of one candidate's run, start-up excluded
  bool verify = true;      ///< compare the output with the reference
  double verify_within = 0;  ///< with `verify`: only of candidates that take less than so many times the best so far; 0: of all
  uint64_t input_seed = 1;
  uint64_t launch = 0;  ///< which of several runs with these inputs
  Magnitudes magnitudes = Magnitudes::even;  ///< of float inputs
  /// Whether constants leave the caches before every call. A session chooses what the network does (weights.h).
  records::Weights weights = records::Weights::cold;
  double min_sample_s = 0;                   ///< least time of a sample, for which the kernel is called often enough; 0: see timing.h
  int samples = 0;  ///< exactly so many, unless they take longer than a measurement may, and without regard to an incumbent; 0: until they agree

  /// Whether the output of a candidate is compared that takes so long where the best so far takes `best_s`, 0 if there is none.
  bool verifies(double seconds, double best_s) const { return verify && (verify_within <= 0 || best_s <= 0 || seconds < verify_within * best_s); }

  /// What seeds the noise of times that are none of a machine's.
  uint64_t noise_seed() const { return hash_combine(input_seed, launch); }
};

/// Object code to times.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Who is told, on the thread of the call, what a person should know while it takes long, such as who holds the device. Each text once in a row.
  void tell(std::function<void(const std::string&)> notice) { notice_ = std::move(notice); }
  /// Builder::watch.
  void watch(StageSink sink) { watch_ = std::move(sink); }
  virtual std::vector<records::MeasureResult> run(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options,
                                                  StopToken stop) = 0;
  /// What the processor counts during one call of a kernel, in a run of its own on one thread. Errors: unsupported for devices that count nothing; why the run
  /// failed.
  virtual Expected<CounterReading> count(const records::Task& task, const BuildOutcome& build, StopToken stop) {
    static_cast<void>(task), static_cast<void>(build), static_cast<void>(stop);
    return Error(ErrorCode::unsupported, "This device does not count events");
  }
  /// How fast the machine is right now. Nothing is known of machines that are formulas. Errors: cancelled; infrastructure.
  virtual Expected<References> references(StopToken stop) {
    static_cast<void>(stop);
    return References{};
  }

 protected:
  void say(const std::string& text) {
    if (notice_ && std::exchange(said_, text) != text) notice_(text);
  }
  void moved(size_t candidate, Stage stage) {
    if (watch_) watch_(candidate, stage);
  }

 private:
  StageSink watch_;
  std::function<void(const std::string&)> notice_;
  std::string said_;
};

struct WorkerOptions {
  std::string worker_path;  ///< of tw-worker; empty: beside the running program
  int jobs = 0;             ///< build processes; 0: one per processor
  double build_timeout_s = 10;
  int64_t memory_bytes = int64_t{2} << 30;  ///< address space of a candidate beyond its tensors
};
/// Errors: not_found if the worker program is missing.
Expected<std::unique_ptr<Builder>> local_builder(const WorkerOptions& options);
Expected<std::unique_ptr<Runner>> local_runner(const WorkerOptions& options);

}  // namespace tw::measure
