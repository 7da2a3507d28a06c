// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "engine/base/rng.h"
#include "engine/base/worker_pool.h"
#include "engine/cost/feature_matrix.h"
#include "engine/records/session_store.h"

namespace tw::cost {

/// Candidates of some tasks as models learn from them: their rows, and how fast each ran.
class Dataset {
 public:
  struct Sample {
    FeatureRows rows;
    double speed;  ///< runs per second, 0 for what failed
  };
  struct Task {
    std::string key;  ///< tells tasks apart
    std::vector<Sample> samples;
    double fastest = 0;  ///< speed of the fastest sample, or of those of the data that this is a part of
  };
  /// A part to learn from and one to judge by.
  struct Split;

  /// The records that tell something of their candidate; those whose features cannot be had are left out, as are all after a stop. Lowering is done by `workers`.
  static Dataset of_records(const FeatureDef& feature, std::span<const records::TaskRecords> tasks, WorkerPool& workers, const StopToken& stop = {});

  void add(const std::string& task_key, FeatureRows rows, double speed);

  const std::vector<Task>& tasks() const { return tasks_; }  ///< in the order of their first samples
  size_t size() const;                                       ///< samples of all tasks

  // All samples, task by task.
  FeatureMatrix matrix() const;
  std::vector<double> labels() const;       ///< speed ÷ the fastest of its task, so that tasks can be compared: 0 to 1
  std::vector<size_t> group_sizes() const;  ///< samples of each task

  /// Deals out every task's samples: `test_share` of them, rounded down, to the second part. Says how well a model knows the tasks that it saw.
  Split split_samples(double test_share, Rng& rng) const;
  /// Deals out whole tasks: says how well a model knows tasks that it never saw.
  Split split_tasks(double test_share, Rng& rng) const;
  /// The tasks that `is_tested` says yes to in the second part.
  Split split_by(const std::function<bool(const std::string& key)>& is_tested) const;

 private:
  Task& task(const std::string& key);

  std::vector<Task> tasks_;
  std::unordered_map<std::string, size_t> places_;  ///< of tasks, by key
};

struct Dataset::Split {
  Dataset train, test;
};

}  // namespace tw::cost
