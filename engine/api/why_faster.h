// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/api/insight.h"
#include "engine/records/record.h"
#include "engine/tune/difference_shares.h"

namespace tw::api {

/// A choice that two points of a space made otherwise, and what the one in place of the other is worth.
struct ChoiceDifference {
  std::string knob, first, second;  ///< its value in each, as the space writes it
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
  /// Points on the way that have no time: the knobs that are already as in the second, and why.
  std::vector<std::pair<std::vector<std::string>, std::string>> missing;
  std::vector<std::string> only_first, only_second;  ///< steps of one schedule alone, as texts
  std::vector<FactDifference> facts;                 ///< numbers of loops, launches, caches (on small sizes) and code that differ, by how much they do
};

/// The time of a point of the task's space, or why it has none. Steps are there if the point's schedule can be made.
using TimeOfPoint = std::function<Expected<double>(const records::Candidate&)>;

/// Walks from the first candidate to the second by one knob at a time. Errors: unsupported for candidates that are no points of one space; those of
/// tune::difference_shares.
Expected<WhyFaster> why_faster(const records::Task& task, const records::Candidate& first, const records::Candidate& second, const TimeOfPoint& time_of,
                               StopToken stop = {});

}  // namespace tw::api
