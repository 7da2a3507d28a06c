// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace tw::measure {

/// One measurement at a time on a device: a file lock that the measuring workers of all programs of a user share. A worker that dies lets go of it.
/// Where no such file can be made, nothing is locked.
class DeviceLock {
 public:
  /// `device`: a name of its own, such as a GPU's identity; empty for this machine's processors.
  explicit DeviceLock(const std::string& device = {});
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
