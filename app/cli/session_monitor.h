// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/cli/progress.h"
#include "engine/api/compile.h"
#include "engine/tune/session.h"

namespace tw::cli {

/// What is said wherever times are shown that are not measured here and now; empty for others.
std::string kind_of_times(const std::string& device);

/// Session events as progress on standard error.
class SessionMonitor {
 public:
  /// `tasks` outlive it.
  explicit SessionMonitor(const std::vector<api::NetworkTask>& tasks) : tasks_(tasks), progress_("Tuning", 0) {}

  /// There are so many trials already.
  void start_at(int64_t trials) {
    done_ = trials;
    progress_.start_at(trials);
  }
  void operator()(const tune::Event& event);

 private:
  const std::string& name(int task) const { return tasks_[static_cast<size_t>(task)].task.name; }
  std::string rate(int task, double seconds) const;

  const std::vector<api::NetworkTask>& tasks_;
  Progress progress_;
  int64_t done_ = 0;
};

}  // namespace tw::cli
