// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/interpreted_gpu.h"

#include <cstring>
#include <map>

#include "engine/base/host_array.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/measure/simulated_gpu.h"
#include "engine/runtime/cuda_device.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"

namespace tw::measure {

namespace {

struct InterpretedFunction final : runtime::GpuLoaded {
  explicit InterpretedFunction(tir::Func f) : func(std::move(f)) {}
  tir::Func func;
  double seconds = 0;
};

class InterpretedGpu final : public runtime::GpuDevice {
 public:
  explicit InterpretedGpu(const target::Gpu& gpu) : gpu_(gpu) {
    name_ = "sim:" + gpu.name;
    properties_ = {gpu.description, "",
                   gpu.capability,  gpu.multiprocessors,
                   gpu.clock_mhz,   gpu.memory_bytes,
                   gpu.l2_bytes,    target::gpu_arch(gpu.capability).shared_opt_in};
  }

  bool simulated() const override { return true; }

  Expected<runtime::DeviceAddress> allocate(int64_t bytes) override {
    if (bytes > gpu_.memory_bytes - allocated_)
      return Error(ErrorCode::out_of_memory, fmt::format("Expected {} of memory on {}, which has {} left", si_text(static_cast<double>(bytes), "B"), name_,
                                                         si_text(static_cast<double>(gpu_.memory_bytes - allocated_), "B")));
    const runtime::DeviceAddress at = next_;
    next_ += (static_cast<runtime::DeviceAddress>(bytes) / kAlignment + 1) * kAlignment;
    memory_[at].resize(static_cast<size_t>(bytes));
    allocated_ += bytes;
    return at;
  }
  void release(runtime::DeviceAddress at) override {
    const auto it = memory_.find(at);
    if (it == memory_.end()) return;
    allocated_ -= static_cast<int64_t>(it->second.size());
    memory_.erase(it);
  }
  Expected<void> upload(runtime::DeviceAddress to, std::span<const std::byte> from) override {
    TW_TRY(std::byte * memory, range(to, from.size()));
    std::copy(from.begin(), from.end(), memory);
    return {};
  }
  Expected<void> download(runtime::DeviceAddress from, std::span<std::byte> to) override {
    TW_TRY(const std::byte* memory, range(from, to.size()));
    std::copy_n(memory, to.size(), to.begin());
    return {};
  }
  Expected<void> fill(runtime::DeviceAddress at, std::byte value, int64_t bytes) override {
    TW_TRY(std::byte * memory, range(at, static_cast<size_t>(bytes)));
    std::fill_n(memory, bytes, value);
    return {};
  }

  Expected<std::unique_ptr<runtime::GpuLoaded>> load(const runtime::GpuFunction& f) override {
    TW_TRY(tir::Func func, tir::parse_func(f.loops));
    if (static_cast<int>(func.params.size()) != f.arguments)
      return Error(ErrorCode::corrupt, fmt::format("Expected loops with {} arguments in '{}', found {}", f.arguments, f.symbol, func.params.size()));
    auto loaded = std::make_unique<InterpretedFunction>(std::move(func));
    TW_TRY(loaded->seconds, simulated_seconds(loaded->func, gpu_));
    return std::unique_ptr<runtime::GpuLoaded>(std::move(loaded));
  }

  Expected<void> launch(const runtime::GpuLoaded& function, std::span<const runtime::DeviceAddress> args) override {
    const auto& f = static_cast<const InterpretedFunction&>(function);
    TW_ASSERT(args.size() == f.func.params.size(), "arguments of a GPU function");
    std::vector<HostArray> arrays;
    for (size_t i = 0; i < args.size(); ++i) {
      const ir::BufferNode& p = *f.func.params[i];
      arrays.push_back(HostArray::make(p.dtype, p.shape));
      TW_TRY(const std::byte* memory, range(args[i], arrays[i].data.size()));
      std::copy_n(memory, arrays[i].data.size(), arrays[i].data.begin());
    }
    TW_CHECK(tir::interpret(f.func, arrays, {}, {tir::ThreadOrder::Kind::shuffled, ++launches_}));
    for (size_t i = args.size() - static_cast<size_t>(f.func.num_outputs); i < args.size(); ++i) {
      TW_TRY(std::byte * memory, range(args[i], arrays[i].data.size()));
      std::copy(arrays[i].data.begin(), arrays[i].data.end(), memory);
    }
    clock_s_ += f.seconds;
    return {};
  }

  Expected<void> synchronize() override { return {}; }
  Expected<int> mark() override {
    marks_.push_back(clock_s_);
    return static_cast<int>(marks_.size()) - 1;
  }
  Expected<double> seconds_between(int from, int to) override { return marks_[static_cast<size_t>(to)] - marks_[static_cast<size_t>(from)]; }
  void forget_marks() override { marks_.clear(); }
  Expected<std::unique_ptr<runtime::GpuRecording>> record(const std::function<Expected<void>()>&) override { return std::unique_ptr<runtime::GpuRecording>(); }
  Expected<void> replay(const runtime::GpuRecording&) override { TW_UNREACHABLE("nothing was recorded"); }

 private:
  static constexpr runtime::DeviceAddress kAlignment = 256;

  /// Addresses inside of an array are legal: arenas are cut up by who asked for them.
  Expected<std::byte*> range(runtime::DeviceAddress at, size_t bytes) {
    auto it = memory_.upper_bound(at);
    if (it != memory_.begin()) {
      --it;
      const uint64_t offset = at - it->first;
      if (offset <= it->second.size() && bytes <= it->second.size() - offset) return it->second.data() + offset;
    }
    return Error(ErrorCode::crash, fmt::format("Expected {} bytes at {:#x} to lie in memory that was given out on {}, found them outside", bytes, at, name_));
  }

  const target::Gpu& gpu_;
  std::map<runtime::DeviceAddress, std::vector<std::byte>> memory_;
  runtime::DeviceAddress next_ = kAlignment;
  int64_t allocated_ = 0;
  double clock_s_ = 0;
  std::vector<double> marks_;
  uint64_t launches_ = 0;
};

}  // namespace

Expected<double> simulated_seconds(const runtime::GpuFunction& function, const target::Gpu& gpu) {
  TW_TRY(const tir::Func func, tir::parse_func(function.loops));
  return simulated_seconds(func, gpu);
}

std::unique_ptr<runtime::GpuDevice> interpreted_gpu(const target::Gpu& gpu) { return std::make_unique<InterpretedGpu>(gpu); }

Expected<std::unique_ptr<runtime::GpuDevice>> open_gpu(const std::string& name) {
  if (const auto ordinal = cuda_ordinal(name)) return runtime::open_cuda_device(*ordinal);
  TW_TRY(const target::Gpu* gpu, simulated_gpu_named(name));
  return interpreted_gpu(*gpu);
}

}  // namespace tw::measure
