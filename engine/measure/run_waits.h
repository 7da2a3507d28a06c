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

}  // namespace tw::measure
