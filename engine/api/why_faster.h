// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/api/candidate_walk.h"
#include "engine/api/insight.h"
#include "engine/measure/counters.h"
#include "engine/records/record.h"
#include "engine/tune/difference_shares.h"

namespace tw::api {

/// A choice that two candidates made otherwise, and what the one in place of the other is worth.
struct ChoiceDifference : CandidateChange {
  tune::DifferenceShares::Share share;
};

/// A number that tells two candidates apart.
struct FactDifference {
  std::string name;  ///< with its unit
  double first = 0, second = 0;
};

/// Why one of two candidates of a task is faster than the other.
struct WhyFaster {
  double first_s = 0, second_s = 0;
  std::vector<ChoiceDifference> choices;  ///< those that explain most first
  double orders = 0, all_orders = 0;      ///< see tune::DifferenceShares
  std::string undivided;                  ///< why the difference cannot be shared among choices; empty if it is
  /// Points on the way that have no time: the choices that are already as in the second, and why.
  std::vector<std::pair<std::vector<std::string>, std::string>> missing;
  std::vector<std::string> only_first, only_second;  ///< steps of one schedule alone, as texts
  std::vector<FactDifference> facts;                 ///< numbers of loops, launches, caches (on small sizes) and code that differ, by how much they do
  std::vector<FactDifference> counts;                ///< of one call, as the processor counted; where they were asked for, all of them
  std::string uncounted;                             ///< one sentence on why some could not be counted
  /// What cost models see otherwise: of the store with most arithmetic, Ansor's numbers (cost/features/store_costs.h) that differ, by how much they do.
  std::vector<FactDifference> features;
};
/// So many of the features are shown where there is little room.
inline constexpr size_t kShownFeatures = 12;

/// The time of a candidate, or why it has none. Steps are there if its schedule can be made.
using TimeOfPoint = std::function<Expected<double>(const records::Candidate&)>;

struct WhyOptions {
  StopToken stop = {};
  std::function<void(size_t asked, size_t all)> progress = {};  ///< points whose time was asked for, of all
  /// What the processor counts in one call; null: nobody counts.
  std::function<Expected<measure::CounterReading>(const records::Candidate&)> count = {};
};

/// Walks from the first candidate to the second by one change at a time. Errors: why one of both has no time; invalid_argument for what does not differ; cancelled.
Expected<WhyFaster> why_faster(const records::Task& task, const records::Candidate& first, const records::Candidate& second, const TimeOfPoint& time_of,
                               const WhyOptions& options = {});

}  // namespace tw::api
