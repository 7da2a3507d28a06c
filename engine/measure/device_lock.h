// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace tw::measure {

/// One measurement at a time on this machine: a file lock that the measuring workers of all programs of a user share. A worker that dies lets go of it.
/// Where no such file can be made, nothing is locked.
class DeviceLock {
 public:
  DeviceLock();
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// Waits for the lock as long as `wanted` says so; false if it gave up.
  bool acquire(const std::function<bool()>& wanted);
  void release();

 private:
  int fd_ = -1;
};

}  // namespace tw::measure
