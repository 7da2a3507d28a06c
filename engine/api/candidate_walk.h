// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/records/record.h"
#include "engine/records/task.h"

namespace tw::api {

/// One of the changes that make one candidate of another.
struct CandidateChange {
  std::string name;           ///< a knob, or what of a step stays
  std::string first, second;  ///< in words: the knob's value, or the rest of the step, before and after
};

/// The way from one candidate of a task to another, change by change.
struct CandidateWalk {
  std::vector<CandidateChange> changes;
  /// The candidate with a set of changes made, a bit each; without steps if its schedule cannot be made. Errors: why there is no such candidate.
  std::function<Expected<records::Candidate>(uint32_t made)> at;
};

/// Two points of one space differ in knobs. Other candidates differ in steps: what is done to the same loop otherwise is a change of that step, steps that only
/// one of both has between those that both have are one change, and changes that are illegal without each other are one. `first` and `second` outlive what is
/// returned, and so does the task. Errors: unsupported for candidates without steps, or with more changes than can be walked; invalid_argument for what does not
/// differ.
Expected<CandidateWalk> candidate_walk(const records::Task& task, const records::Candidate& first, const records::Candidate& second);

}  // namespace tw::api
