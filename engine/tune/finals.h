// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/paired_ratio.h"
#include "engine/tune/measure_batch.h"

namespace tw::tune {

/// The fastest of thousands of noisy times is partly luck. Before a task's best is called best, the leaders are timed against each other, and against the
/// default schedule: only so is it known what tuning gained.
struct FinalOptions {
  int finalists = 8;      ///< the incumbent, which is the fastest so far, included
  double within = 1.1;    ///< finalists are at most so much slower than the incumbent
  int launches = 3;       ///< processes of each, with inputs of another seed each, in the last of uneven magnitudes
  int samples = 15;       ///< of each process
  records::Weights weights = records::Weights::cold;  ///< measure::RunOptions::weights
  double certain = 0.99;  ///< a finalist replaces the incumbent if the upper end of its ratio's interval is below this
};

/// How a finalist did against the incumbent, from the results of both in the same rounds: its time on the scale where the incumbent takes `incumbent_s`, less than
/// that only if it is surely faster. Infinite if any of its results is none or wrong.
records::Verdict final_verdict(const std::vector<records::MeasureResult>& incumbent, const std::vector<records::MeasureResult>& other, double incumbent_s,
                               const FinalOptions& options, Rng& rng);

/// Builds the finalists, runs every one `launches` times in an order that is random in each round, and fills in `verdict` of each: times on a scale where the
/// incumbent (the first) takes `incumbent_s`, the least time of the task, so that no trial outside the finals is better than the winner. Who is not surely
/// faster than the incumbent gets no better time. Whose output is wrong with other inputs, or who fails, is never best: its time is infinite; should that be
/// the incumbent, the next one takes its place. Empty if it was stopped or none could be run.
std::vector<records::Record> run_finals(const records::Task& task, std::vector<records::Record> finalists, double incumbent_s, const FinalOptions& options,
                                        BatchMeasurer& measurer, uint64_t seed, const std::function<void(const char*)>& phase);

}  // namespace tw::tune
