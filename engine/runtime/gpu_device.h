// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/gpu_code.h"

/// A GPU as those see it who run code on it: memory, a queue of work, points in time. A real one (cuda_device.h) or one that is interpreted on the processor.
namespace tw::runtime {

using DeviceAddress = uint64_t;

struct GpuProperties {
  std::string name;    ///< as the maker calls it
  std::string uuid;    ///< of this very card; empty for one that is not there
  int capability = 0;  ///< ten times major version plus minor
  int multiprocessors = 0;
  int clock_mhz = 0;
  int64_t memory_bytes = 0, l2_bytes = 0;
  int64_t shared_opt_in = 0;  ///< most shared memory of one block
};

/// What the driver says of a loaded kernel.
struct GpuResources {
  std::string kernel;
  int registers = 0;        ///< of a thread
  int64_t local_bytes = 0;  ///< of a thread, in memory: spills and arrays with indices
  int64_t static_shared_bytes = 0;
};

/// A function on the device, ready to be launched. Goes before its device does.
class GpuLoaded {
 public:
  virtual ~GpuLoaded() = default;
  std::vector<GpuResources> resources;  ///< one a launch; empty where nothing was compiled
};

/// Work that was recorded and is launched as a whole.
class GpuRecording {
 public:
  virtual ~GpuRecording() = default;
};

/// All calls come from one thread. Work is done in the order it is put into the queue; what goes wrong with it shows at a later call. Errors of all of them:
/// crash once the device is lost to this process: nothing works any more, and another process must be started; out_of_memory; resource_limit for a launch that
/// the device refuses; infrastructure for the rest.
class GpuDevice {
 public:
  virtual ~GpuDevice() = default;
  const std::string& name() const { return name_; }  ///< "cuda:0", "sim:a100"
  virtual bool simulated() const = 0;
  const GpuProperties& properties() const { return properties_; }

  /// At least 256-byte aligned. What is released is kept for the next request.
  virtual Expected<DeviceAddress> allocate(int64_t bytes) = 0;
  virtual void release(DeviceAddress at) = 0;
  /// Done when it returns.
  virtual Expected<void> upload(DeviceAddress to, std::span<const std::byte> from) = 0;
  /// After all work in the queue.
  virtual Expected<void> download(DeviceAddress from, std::span<std::byte> to) = 0;
  virtual Expected<void> fill(DeviceAddress at, std::byte value, int64_t bytes) = 0;

  /// Errors: unsupported if no image fits and nothing can make one.
  virtual Expected<std::unique_ptr<GpuLoaded>> load(const GpuFunction& function) = 0;
  /// `args` in the order of the function's signature.
  virtual Expected<void> launch(const GpuLoaded& function, std::span<const DeviceAddress> args) = 0;
  virtual Expected<void> synchronize() = 0;

  /// A point in the queue, or in what is being recorded, which then has the time of the last replay. The numbers begin anew after forget_marks, and a recording
  /// with points of before is not replayed any more.
  virtual Expected<int> mark() = 0;
  /// Once the queue is empty (synchronize).
  virtual Expected<double> seconds_between(int from, int to) = 0;
  virtual void forget_marks() = 0;
  /// Whether times of now say little of a kernel: another process computes on the GPU, it protects itself from heat, or its clock has dropped by a fifth for
  /// another reason than the kernel's own power. False where nobody can tell.
  virtual bool disturbed() { return false; }

  /// Records what `enqueue` launches instead of running it. Null where the device has no such thing.
  virtual Expected<std::unique_ptr<GpuRecording>> record(const std::function<Expected<void>()>& enqueue) = 0;
  virtual Expected<void> replay(const GpuRecording& recording) = 0;

 protected:
  std::string name_;
  GpuProperties properties_;
};

/// Memory on a device that is released with this object.
class GpuArray {
 public:
  GpuArray() = default;
  static Expected<GpuArray> make(GpuDevice& device, int64_t bytes) {
    TW_TRY(const DeviceAddress at, device.allocate(bytes));
    return GpuArray(&device, at, bytes);
  }
  GpuArray(GpuArray&& o) noexcept : device_(std::exchange(o.device_, nullptr)), at_(o.at_), bytes_(o.bytes_) {}
  GpuArray& operator=(GpuArray&& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(at_, o.at_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~GpuArray() {
    if (device_) device_->release(at_);
  }
  DeviceAddress at() const { return at_; }
  int64_t bytes() const { return bytes_; }

 private:
  GpuArray(GpuDevice* device, DeviceAddress at, int64_t bytes) : device_(device), at_(at), bytes_(bytes) {}
  GpuDevice* device_ = nullptr;
  DeviceAddress at_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace tw::runtime
