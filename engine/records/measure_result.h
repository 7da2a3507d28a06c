// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"

namespace tw::records {

/// How a trial ended. Failures are data: each kind is counted and shown.
enum class Status : uint8_t {
  ok,
  lower_fail,  ///< the schedule is illegal for this task
  build_fail,  ///< the compiler refused
  build_timeout,
  build_crash,
  load_fail,
  run_timeout,
  run_crash,
  out_of_memory,
  wrong_output,
  bad_timing,  ///< zero, negative or faster than physically possible
  infra,       ///< our machinery failed; not the candidate's fault
  cancelled,
  not_recorded,  ///< a replay has no trial of the candidate, which says nothing of it
};
const char* status_name(Status s);
Status status_from_name(std::string_view name);
/// Whose fault: only failures blamed on the candidate reach cost models.
bool blames_candidate(Status s);

/// No call of a kernel takes less, in seconds.
inline constexpr double kLeastTime = 1e-9;
/// Costs from here on mean a failure, in AutoTVM's and Ansor's logs too.
inline constexpr double kFailureCost = 1e9;
/// Whether a time can be one: a number from kLeastTime to below kFailureCost.
bool possible_time(double seconds);

/// Where the constants of a kernel were when it was called.
enum class Weights : uint8_t {
  unknown,
  cold,  ///< in memory, out of all caches
  warm,  ///< where the call before left them
};
/// "cold" and "warm"; empty for what is not known.
const char* weights_name(Weights w);
/// Whether a time of the one state tells about the other: what is not known may be either.
inline bool comparable(Weights a, Weights b) { return a == b || a == Weights::unknown || b == Weights::unknown; }
Weights weights_from_name(std::string_view name);

/// Outcome of the finals of a task, where the fastest trials run against each other.
struct Verdict {
  double seconds = 0;        ///< on the scale of the session's trials; infinity if it failed there
  double low = 1, high = 1;  ///< interval of its time ÷ that of the trial that was fastest before; how sure, says tune::FinalOptions::error
};

/// Outcome of measuring one candidate once. Times in seconds.
struct MeasureResult {
  Status status = Status::infra;
  std::string message;            ///< one sentence for failures
  std::vector<double> samples_s;  ///< raw, one per sample, each the mean of `inner` calls
  int flagged = 0;                ///< samples in which the kernel was disturbed: context switches, threads that waited for a processor
  int inner = 1;
  bool censored = false;                      ///< stopped early as clearly slow: the time is a lower bound
  bool verified = false;                      ///< output compared with the reference
  double max_rel_error = 0;                   ///< of that comparison
  Weights weights = Weights::unknown;
  double build_s = 0, load_s = 0, run_s = 0;  ///< wall time of each phase; run_s holds timing and comparing
  double fill_s = 0, verify_s = 0;  ///< making the arguments, before the run; of run_s: calls and comparisons that verify. 0: not known
  double timestamp_s = 0;                     ///< Unix time of the end

  bool ok() const { return status == Status::ok; }
  /// The estimator candidates are ranked by: the minimum of unflagged samples (all samples if every one is flagged). Infinity for failures.
  double seconds() const;
  /// What decides which trial is best: the time from the finals where there were any.
  double decided_s() const { return verdict ? verdict->seconds : seconds(); }
  double median_s() const;
  /// The samples that count: the unflagged ones, or all of them if every one is flagged.
  std::vector<double> counted_samples() const;
  std::vector<bool> sample_flags;  ///< per sample: flagged
  std::optional<Verdict> verdict;
};

Json to_json(const MeasureResult&);
Expected<MeasureResult> measure_result_from_json(const Json&);

}  // namespace tw::records
