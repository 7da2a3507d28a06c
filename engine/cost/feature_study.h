// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

/// Which facts a cost model should be told so that it serves on a device that it never saw: it learns with and without them, and is judged on the device that was left out.
namespace tw::cost {

enum class FeatureKind : uint8_t { schedule, hardware, property };

/// Trials of one operator on several devices, in one or more shapes. Times are of one kind: measured or simulated.
struct StudyTable {
  struct Column {
    std::string name;
    FeatureKind kind = FeatureKind::schedule;
  };
  struct Candidate {
    std::vector<float> features;  ///< a number for each column; those of hardware and properties are the same for all of a task
    double seconds = 0;           ///< infinity for what failed by its own fault
  };
  struct Task {  ///< one shape on one device
    size_t device = 0;
    std::vector<Candidate> candidates;
  };
  std::vector<std::string> devices;
  std::vector<Column> columns;
  std::vector<Task> tasks;
};

/// How a predictor did on what it never saw.
struct StudyScore {
  double pairs = 0;      ///< share of the pairs of a task in the right order (metrics.h)
  double best_of_8 = 0;  ///< top_k_score of eight
  double trials = 0;     ///< until one is within 5 % of the fastest, where candidates are tried in the predicted order; geometric mean over tasks
};
/// A mean over left-out devices and refits (of ratios the geometric one), with what holds nine of ten bootstrap draws of both.
struct StudyGain {
  double mean = 0, low = 0, high = 0;
};
/// What it is worth to know something.
struct FeatureWorth {
  std::string name;
  FeatureKind kind = FeatureKind::hardware;
  bool is_group = false;  ///< all of its kind
  /// By how much the share of pairs in order is higher with it: beside the schedule's features alone, and beside all others.
  StudyGain pairs_alone, pairs_beside;
  /// Trials with it ÷ trials without it, likewise; below 1 it saves some.
  StudyGain trials_alone, trials_beside;
};
enum class Surely : uint8_t { helps, harms, open };
/// By the intervals of what it is worth beside the schedule alone: of accuracy, and where that says nothing of trials.
Surely surely(const FeatureWorth& worth);

struct FeatureStudy {
  struct Device {
    std::string name;
    StudyScore schedule, all;  ///< features that the predictor had
    double chance = 0;         ///< trials in random order
  };
  StudyScore schedule, all;          ///< means over the devices; of trials the geometric one
  double chance = 0;
  std::vector<Device> devices;       ///< each left out once
  std::vector<FeatureWorth> worths;  ///< those that raise accuracy most first
  bool with_hardware = true;         ///< false where two devices leave one to learn from, whose facts never change
  size_t candidates = 0;
  int refits = 0;
};

struct StudyOptions {
  int refits = 5;  ///< for each device left out; each has its own draw of the trials, with replacement, and its own seed
  uint64_t seed = 1;
  int threads = 1;
};

/// Boosted trees (the model boosted-trees over the knobs of a schedule, with a loss by rank within each task) learn from all devices but one and order the trials of that one. Facts and properties whose values come in
/// the same order over all tasks are told together, as trees cannot tell them apart. Tuning cost is by the recorded trials: they are tried in the predicted order, nothing is learned on the way; equal predictions
/// count as in random order. All sets of features see the same draws, so that their differences are paired; a bootstrap draw takes devices, then refits of each.
/// The same input gives the same result with any number of threads. Errors: invalid_argument for fewer than two devices with candidates that ran, without features of the schedule, or without facts or properties that change; cancelled; internal.
/// Sources: Efron and Gong, "A leisurely look at the bootstrap, the jackknife, and cross-validation", The American Statistician 37, 1983; Chen et al., NeurIPS 2018 (the trees and their loss).
Expected<FeatureStudy> feature_study(const StudyTable& table, const StudyOptions& options, const StopToken& stop = {});

}  // namespace tw::cost
