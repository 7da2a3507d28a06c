// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "engine/base/expected.h"

namespace tw::measure {

/// What people call the device without a name of its own.
inline constexpr const char* kProcessors = "this machine's processors";

/// One measurement at a time on a device: a file lock that the measuring workers of all programs of all users share, in the first of /dev/shm, /run/lock and
/// /tmp that has room for it. A worker that dies lets go of it.
class DeviceLock {
 public:
  /// `device`: a name of its own, such as a GPU's identity; empty for this machine's processors.
  explicit DeviceLock(const std::string& device = {});
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// The worker's way of it: waits as long as the program that asked is there, and tells it whom for. Errors: cancelled if it is gone.
  Expected<void> take_turn(const std::string& what);
  /// Waits for the lock as long as `wanted` says so; false if it gave up. Every second `waiting` is told whom it waits for.
  bool acquire(const std::function<bool()>& wanted, const std::function<void(const std::string&)>& waiting = {});
  void release();
  /// Why nothing is locked, so that programs may disturb each other's measurements; empty if all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  int fd_ = -1;
  std::string trouble_;
};

}  // namespace tw::measure
