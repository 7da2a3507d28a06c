// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/cuda_device.h"

#include <algorithm>
#include <bit>
#include <map>

#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/runtime/cuda_driver.h"
#include "engine/runtime/gpu_monitor.h"
#include "engine/target/gpu.h"

namespace tw::runtime {

namespace {

// cuda.h
constexpr int kOutOfMemory = 2, kInvalidValue = 1, kLaunchOutOfResources = 701;
constexpr int kBadImages[] = {200, 209, 218, 222};  ///< not code, not for this GPU, PTX that is wrong or too new
constexpr int kClockRate = 13, kMultiprocessors = 16, kL2Size = 38, kMajor = 75, kMinor = 76, kSharedOptIn = 97;
constexpr int kFunctionShared = 1, kFunctionLocal = 3, kFunctionRegisters = 4, kFunctionDynamicShared = 8;
/// How often a GPU's condition is asked for, which takes some microseconds, and the share of the highest clock seen below which times are disturbed.
constexpr double kAskAgainSeconds = 0.005, kLeastClock = 0.8;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr unsigned kRecordDefault = 0, kRecordExternal = 1;  ///< external: an event of a recording that has a time of its own after each replay
constexpr int kJitErrorLog = 5, kJitErrorLogSize = 6;

Error driver_error(const CudaDriver& d, int code, const std::string& what) {
  const auto kind = [&] {
    if (is_sticky(code)) return ErrorCode::crash;
    if (code == kOutOfMemory) return ErrorCode::out_of_memory;
    if (code == kLaunchOutOfResources || code == kInvalidValue) return ErrorCode::resource_limit;
    return std::find(std::begin(kBadImages), std::end(kBadImages), code) != std::end(kBadImages) ? ErrorCode::unsupported : ErrorCode::infrastructure;
  }();
  return Error(kind, fmt::format("Expected the GPU to {}, found {}", what, d.text(code)));
}

struct CudaLoaded final : GpuLoaded {
  struct Launch {
    CudaDriver::Function function;
    GpuLaunch sizes;
  };
  CudaLoaded(const CudaDriver& driver, const bool& device_lost) : d(driver), lost(device_lost) {}
  ~CudaLoaded() override {
    if (module && !lost) d.module_unload(module);
  }
  const CudaDriver& d;
  const bool& lost;
  CudaDriver::Module module = nullptr;
  std::vector<Launch> launches;
  std::vector<GpuArray> workspaces;
  int arguments = 0;
};

struct CudaRecording final : GpuRecording {
  CudaRecording(const CudaDriver& driver, const bool& device_lost) : d(driver), lost(device_lost) {}
  ~CudaRecording() override {
    if (exec && !lost) d.graph_exec_destroy(exec);
  }
  const CudaDriver& d;
  const bool& lost;
  CudaDriver::GraphExec exec = nullptr;
};

/// Sizes that the pool hands out: powers of two up to a mebibyte, then whole mebibytes.
int64_t pooled_size(int64_t bytes) {
  constexpr int64_t kLeast = 512, kStep = int64_t{1} << 20;
  if (bytes >= kStep) return (bytes + kStep - 1) / kStep * kStep;
  return std::max<int64_t>(kLeast, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(bytes, 1)))));
}

class CudaDevice final : public GpuDevice {
 public:
  CudaDevice(const CudaDriver& d, GpuProperties properties, int ordinal, int device) : d_(d), device_(device) {
    name_ = fmt::format("cuda:{}", ordinal);
    properties_ = std::move(properties);
  }

  Expected<void> open() {
    CudaDriver::Context context = nullptr;
    TW_CHECK(check(d_.context_retain(&context, device_), "make a context"));
    retained_ = true;
    TW_CHECK(check(d_.context_set(context), "use a context"));
    return check(d_.stream_create(&stream_, kStreamNonBlocking), "make a queue");
  }

  ~CudaDevice() override {
    if (lost_) return;
    for (const CudaDriver::Event e : marks_) d_.event_destroy(e);
    for (const auto& [bytes, at] : free_) d_.free(at);
    for (const auto& [at, bytes] : used_) d_.free(at);
    if (stream_) d_.stream_destroy(stream_);
    if (retained_) d_.context_release(device_);
  }

  bool simulated() const override { return false; }

  bool disturbed() override {
    if (!monitor_) monitor_ = GpuMonitor::open(properties_.uuid);
    const double now = clock_now_s(CLOCK_MONOTONIC);
    if (!*monitor_ || now - asked_s_ < kAskAgainSeconds) return disturbed_;
    asked_s_ = now;
    const auto c = (*monitor_)->condition();
    if (!c) return disturbed_ = false;
    highest_mhz_ = std::max(highest_mhz_, c->clock_mhz);
    const bool slow = c->clock_mhz < kLeastClock * highest_mhz_ && !c->power_capped();
    return disturbed_ = slow || c->protecting_itself() || c->strangers > 0;
  }

  Expected<DeviceAddress> allocate(int64_t bytes) override {
    if (bytes < 0) return Error(ErrorCode::invalid_argument, fmt::format("Expected a size in bytes, found {}", bytes));
    const int64_t size = pooled_size(bytes);
    if (const auto kept = free_.find(size); kept != free_.end()) {
      const DeviceAddress at = kept->second;
      free_.erase(kept);
      used_[at] = size;
      return at;
    }
    DeviceAddress at = 0;
    TW_CHECK(usable());
    int code = d_.alloc(&at, static_cast<size_t>(size));
    if (code == kOutOfMemory && !free_.empty()) {
      TW_CHECK(synchronize());
      for (const auto& [kept_bytes, kept_at] : free_) d_.free(kept_at);
      free_.clear();
      code = d_.alloc(&at, static_cast<size_t>(size));
    }
    TW_CHECK(check(code, fmt::format("give {} of memory", si_text(static_cast<double>(bytes), "B"))));
    used_[at] = size;
    return at;
  }

  void release(DeviceAddress at) override {
    const auto used = used_.find(at);
    if (used == used_.end()) return;
    free_.emplace(used->second, at);
    used_.erase(used);
  }

  Expected<void> upload(DeviceAddress to, std::span<const std::byte> from) override {
    if (from.empty()) return usable();
    TW_CHECK(usable());
    TW_CHECK(check(d_.upload(to, from.data(), from.size(), stream_), "copy to its memory"));
    return synchronize();
  }

  Expected<void> download(DeviceAddress from, std::span<std::byte> to) override {
    TW_CHECK(synchronize());
    if (to.empty()) return {};
    TW_CHECK(check(d_.download(to.data(), from, to.size(), stream_), "copy from its memory"));
    return synchronize();
  }

  Expected<void> fill(DeviceAddress at, std::byte value, int64_t bytes) override {
    TW_CHECK(usable());
    if (bytes == 0) return {};
    return check(d_.fill(at, std::to_integer<unsigned char>(value), static_cast<size_t>(bytes), stream_), "fill memory");
  }

  Expected<std::unique_ptr<GpuLoaded>> load(const GpuFunction& f) override {
    TW_CHECK(usable());
    const std::vector<std::byte>* image = f.image_for(properties_.capability);
    if (!image)
      return Error(ErrorCode::unsupported,
                   fmt::format("Expected machine code for {} in '{}', found none", target::arch_name(properties_.capability), f.symbol));
    auto loaded = std::make_unique<CudaLoaded>(d_, lost_);
    char log[1024] = "";
    int options[] = {kJitErrorLog, kJitErrorLogSize};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
    if (auto done = check(d_.module_load(&loaded->module, image->data(), 2, options, values), fmt::format("load '{}'", f.symbol)); !done) {
      Error e = done.error();
      return log[0] ? std::move(e).note(printable(log)) : e;
    }
    loaded->arguments = f.arguments;
    for (const int64_t bytes : f.workspace_bytes) {
      TW_TRY(GpuArray array, GpuArray::make(*this, bytes));
      loaded->workspaces.push_back(std::move(array));
    }
    for (const GpuLaunch& l : f.launches) {
      CudaLoaded::Launch launch{nullptr, l};
      TW_CHECK(check(d_.module_function(&launch.function, loaded->module, l.kernel.c_str()), fmt::format("find the kernel '{}'", l.kernel)));
      if (l.dynamic_shared_bytes > 0)
        TW_CHECK(check(d_.set_function_attribute(launch.function, kFunctionDynamicShared, static_cast<int>(l.dynamic_shared_bytes)),
                       fmt::format("give {} of shared memory to '{}'", si_text(static_cast<double>(l.dynamic_shared_bytes), "B"), l.kernel)));
      GpuResources r{l.kernel, 0, 0, 0};
      int local = 0, shared = 0;
      TW_CHECK(check(d_.function_attribute(&r.registers, kFunctionRegisters, launch.function), "say how many registers a kernel takes"));
      TW_CHECK(check(d_.function_attribute(&local, kFunctionLocal, launch.function), "say how much memory a thread takes"));
      TW_CHECK(check(d_.function_attribute(&shared, kFunctionShared, launch.function), "say how much shared memory a kernel takes"));
      r.local_bytes = local;
      r.static_shared_bytes = shared;
      loaded->resources.push_back(std::move(r));
      loaded->launches.push_back(std::move(launch));
    }
    return std::unique_ptr<GpuLoaded>(std::move(loaded));
  }

  Expected<void> launch(const GpuLoaded& function, std::span<const DeviceAddress> args) override {
    TW_CHECK(usable());
    const auto& f = static_cast<const CudaLoaded&>(function);
    TW_ASSERT(static_cast<int>(args.size()) == f.arguments, "arguments of a GPU function");
    for (const CudaLoaded::Launch& l : f.launches) {
      std::vector<DeviceAddress> pointers;
      for (const int p : l.sizes.params) {
        const auto i = static_cast<size_t>(p);
        pointers.push_back(i < args.size() ? args[i] : f.workspaces[i - args.size()].at());
      }
      std::vector<void*> params;
      for (DeviceAddress& p : pointers) params.push_back(&p);
      const auto u = [](int64_t n) { return static_cast<unsigned>(n); };
      const auto &g = l.sizes.grid, &b = l.sizes.block;
      TW_CHECK(
          check(d_.launch(l.function, u(g[0]), u(g[1]), u(g[2]), u(b[0]), u(b[1]), u(b[2]), u(l.sizes.dynamic_shared_bytes), stream_, params.data(), nullptr),
                fmt::format("launch '{}'", l.sizes.kernel)));
    }
    return {};
  }

  Expected<void> synchronize() override {
    TW_CHECK(usable());
    return check(d_.stream_synchronize(stream_), "finish its work");
  }

  Expected<int> mark() override {
    TW_CHECK(usable());
    if (used_marks_ == marks_.size()) {
      CudaDriver::Event e = nullptr;
      TW_CHECK(check(d_.event_create(&e, 0), "make an event"));
      marks_.push_back(e);
    }
    TW_CHECK(check(d_.event_record(marks_[used_marks_], stream_, recording_ ? kRecordExternal : kRecordDefault), "record an event"));
    return static_cast<int>(used_marks_++);
  }

  Expected<double> seconds_between(int from, int to) override {
    TW_CHECK(usable());
    float milliseconds = 0;
    TW_CHECK(check(d_.event_elapsed(&milliseconds, marks_[static_cast<size_t>(from)], marks_[static_cast<size_t>(to)]), "say the time between two events"));
    return 1e-3 * static_cast<double>(milliseconds);
  }

  /// The events stay for the next marks, unless there are very many.
  void forget_marks() override {
    constexpr size_t kKept = 4096;
    used_marks_ = 0;
    while (marks_.size() > kKept && !lost_) {
      d_.event_destroy(marks_.back());
      marks_.pop_back();
    }
  }

  Expected<std::unique_ptr<GpuRecording>> record(const std::function<Expected<void>()>& enqueue) override {
    TW_CHECK(synchronize());
    TW_CHECK(check(d_.capture_begin(stream_, kCaptureThreadLocal), "record work"));
    recording_ = true;
    const auto recorded = enqueue();
    recording_ = false;
    CudaDriver::Graph graph = nullptr;
    const int ended = d_.capture_end(stream_, &graph);
    TW_CHECK(recorded);
    TW_CHECK(check(ended, "record work"));
    auto recording = std::make_unique<CudaRecording>(d_, lost_);
    const int made = d_.graph_instantiate(&recording->exec, graph, 0);
    d_.graph_destroy(graph);
    TW_CHECK(check(made, "make recorded work ready"));
    return std::unique_ptr<GpuRecording>(std::move(recording));
  }

  Expected<void> replay(const GpuRecording& recording) override {
    TW_CHECK(usable());
    return check(d_.graph_launch(static_cast<const CudaRecording&>(recording).exec, stream_), "launch recorded work");
  }

 private:
  Expected<void> check(int code, const std::string& what) {
    if (code == 0) return usable();
    lost_ = lost_ || is_sticky(code);
    return driver_error(d_, code, what);
  }
  Expected<void> usable() const {
    if (lost_) return Error(ErrorCode::crash, fmt::format("Expected {} to be usable, found it lost by an earlier error", name_));
    return {};
  }

  const CudaDriver& d_;
  int device_;
  std::optional<Expected<GpuMonitor>> monitor_;
  double asked_s_ = 0;
  int highest_mhz_ = 0;
  bool disturbed_ = false;
  bool retained_ = false, lost_ = false, recording_ = false;
  CudaDriver::Stream stream_ = nullptr;
  std::multimap<int64_t, DeviceAddress> free_;  ///< by size
  std::map<DeviceAddress, int64_t> used_;
  std::vector<CudaDriver::Event> marks_;
  size_t used_marks_ = 0;
};

struct FoundGpu {
  int device = 0;
  GpuProperties properties;
};

Expected<FoundGpu> find_cuda_device(const CudaDriver& d, int ordinal) {
  TW_TRY(const int count, cuda_device_count());
  if (ordinal < 0 || ordinal >= count)
    return Error(ErrorCode::not_found, fmt::format("Expected a GPU from cuda:0 to cuda:{}, found 'cuda:{}'", count - 1, ordinal));
  FoundGpu g;
  const auto check = [&](int code, const char* what) -> Expected<void> {
    if (code == 0) return {};
    return driver_error(d, code, what);
  };
  TW_CHECK(check(d.device_get(&g.device, ordinal), "be there"));
  char name[256] = "";
  TW_CHECK(check(d.device_name(name, sizeof name - 1, g.device), "say its name"));
  unsigned char uuid[16] = {};
  TW_CHECK(check(d.device_uuid(uuid, g.device), "say its identity"));
  size_t memory = 0;
  TW_CHECK(check(d.device_memory(&memory, g.device), "say its memory"));
  int major = 0, minor = 0, multiprocessors = 0, clock_khz = 0, l2 = 0, shared = 0;
  for (const auto& [value, attribute] : {std::pair(&major, kMajor), std::pair(&minor, kMinor), std::pair(&multiprocessors, kMultiprocessors),
                                         std::pair(&clock_khz, kClockRate), std::pair(&l2, kL2Size), std::pair(&shared, kSharedOptIn)})
    TW_CHECK(check(d.device_attribute(value, attribute, g.device), "say what it has"));
  std::string hex;
  for (const unsigned char byte : uuid) hex += fmt::format("{:02x}", byte);
  g.properties = {name, hex, 10 * major + minor, multiprocessors, clock_khz / 1000, static_cast<int64_t>(memory), l2, shared};
  return g;
}

}  // namespace

Expected<GpuProperties> cuda_properties(int ordinal) {
  TW_TRY(const CudaDriver* d, cuda_driver());
  TW_TRY(FoundGpu g, find_cuda_device(*d, ordinal));
  return g.properties;
}

Expected<std::unique_ptr<GpuDevice>> open_cuda_device(int ordinal) {
  TW_TRY(const CudaDriver* d, cuda_driver());
  TW_TRY(FoundGpu g, find_cuda_device(*d, ordinal));
  auto device = std::make_unique<CudaDevice>(*d, std::move(g.properties), ordinal, g.device);
  TW_CHECK(device->open());
  return std::unique_ptr<GpuDevice>(std::move(device));
}

}  // namespace tw::runtime
