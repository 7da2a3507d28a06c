// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tw::measure {

/// How long the threads of this process were ready to run and had no processor, because others had it. A thread that was woken late saw no context switch, and
/// yet its kernel took longer. Source: /proc/PID/task/TID/schedstat, second field.
class RunWaits {
 public:
  /// Watches the threads that exist now; none where the system does not count.
  RunWaits();
  ~RunWaits();
  RunWaits(const RunWaits&) = delete;
  RunWaits& operator=(const RunWaits&) = delete;
  /// Sum over the threads so far, in nanoseconds.
  int64_t total_ns() const;

 private:
  std::vector<int> files_;
};

/// How often this process was disturbed: involuntary context switches, and looks since whose last its threads waited for a processor.
class Disturbances {
 public:
  int64_t count();

 private:
  RunWaits waits_;
  int64_t waited_ = 0, late_ = 0;
};

}  // namespace tw::measure
