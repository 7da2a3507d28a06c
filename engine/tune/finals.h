// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tune/measure_batch.h"

namespace tw::tune {

/// The fastest of thousands of noisy times is partly luck. Before a task's best is called best, the leaders are timed against each other, and against the
/// default schedule: only so is it known what tuning gained.
struct FinalOptions {
  int finalists = 8;      ///< the incumbent, which is the fastest so far, included
  double within = 1.1;    ///< finalists are at most so much slower than the incumbent
  int rounds = 64;        ///< at most, of a process of each; fewer as soon as it is known who is faster
  double time_s = 60;     ///< no further rounds after so long, unless nothing could be known yet
  int samples = 15;       ///< of each process; fewer, but three, where they take longer than process_s
  double process_s = 0.06;
  records::Weights weights = records::Weights::cold;  ///< measure::RunOptions::weights
  double certain = 0.99;  ///< a finalist replaces the incumbent if its time is surely less than so much of the incumbent's
  double error = 0.01;    ///< the probability, at most, that any replaces it though none is that fast
};

/// After how many rounds `rivals` finalists are compared with the incumbent: from the first number on at which anything can be sure.
std::vector<int> looks(int rivals, const FinalOptions& options);

/// How a finalist did against the incumbent.
struct FinalVerdict {
  bool settled = false;      ///< more rounds would not change it
  records::Verdict verdict;  ///< its time is less than the incumbent's only if it is surely faster; infinite if any of its results is none or wrong
};
/// From the results of both in the same rounds, as many as looks() begin with or more, in which all ran one after the other in an order that was drawn. Of each
/// process its time counts, of each round the ratio of the two. If both are equally fast, either is as likely to be ahead, however the machine is disturbed, as
/// the order was drawn: so the interval of the ratios' middle is that of signed ranks, and its level leaves room for all looks and rivals together
/// (Bonferroni). Who is not ahead by half of what is asked for at some look is no longer waited for.
FinalVerdict final_verdict(const std::vector<records::MeasureResult>& incumbent, const std::vector<records::MeasureResult>& other, double incumbent_s, int rivals,
                           const FinalOptions& options);

/// Builds the finalists, runs them in rounds in an order that is random in each until it is settled who is faster than the first, the incumbent, and fills in
/// `verdict` of each: times on a scale where the incumbent takes `incumbent_s`, the least time of the task, so that no trial outside the finals is better than
/// the winner. Who is not surely faster than the incumbent gets no better time. Whose output is wrong with other inputs, or who fails, is never best: its time
/// is infinite; should that be the incumbent, the next one takes its place. Empty if it was stopped or none could be run.
std::vector<records::Record> run_finals(const records::Task& task, std::vector<records::Record> finalists, double incumbent_s, const FinalOptions& options,
                                        BatchMeasurer& measurer, uint64_t seed, const std::function<void(const char*)>& phase);

}  // namespace tw::tune
