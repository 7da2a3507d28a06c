// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/gpu_executor.h"

#include <algorithm>
#include <chrono>

#include "engine/base/text.h"
#include "engine/runtime/executable_json.h"
#include "engine/runtime/workspace.h"
#include "engine/target/target.h"

namespace tw::runtime {

namespace {

class GpuExecutor final : public GraphExecutor {
 public:
  GpuExecutor(std::shared_ptr<const Executable> executable, std::shared_ptr<GpuDevice> device, std::unique_ptr<LoadedModule> host)
      : GraphExecutor(std::move(executable)), device_(std::move(device)), host_(std::move(host)) {}

  Expected<void> prepare(int threads) {
    TW_CHECK(place_arrays());
    TW_CHECK(load_functions());
    for (const Call& call : executable_->calls) {
      GpuCall c;
      for (const int s : call.slots) c.args.push_back(at_[static_cast<size_t>(s)]);
      if (call.on_host) {
        if (!host_) return Error(ErrorCode::unsupported, fmt::format("Expected code of the processor for call '{}', found none", call.name));
        TW_TRY(c.host, host_->find(call.symbol));
      } else {
        c.function = functions_.at(call.symbol).get();
      }
      calls_.push_back(std::move(c));
    }
    if (std::any_of(calls_.begin(), calls_.end(), [](const GpuCall& c) { return c.host; })) {
      TW_CHECK(place_on_host());
      pool_ = std::make_unique<ThreadPool>(threads > 0 ? threads : host_target().cores);
    }
    return {};
  }

  Expected<double> run(std::vector<CallTime>* times) override {
    TW_ASSERT(inputs_set_ || executable_->inputs.empty(), "set_inputs comes before run");
    device_->forget_marks();
    if (times) return run_timed(*times);
    if (!tried_recording_ && !pool_) {
      tried_recording_ = true;
      TW_CHECK(enqueue_all());  // once as it is: what loads late is loaded before it is recorded
      TW_TRY(recording_, device_->record([this] { return enqueue_all(); }));
    }
    TW_CHECK(device_->synchronize());
    const auto begin = std::chrono::steady_clock::now();
    TW_TRY(const int first, device_->mark());
    TW_CHECK(recording_ ? device_->replay(*recording_) : enqueue_all());
    TW_TRY(const int last, device_->mark());
    TW_CHECK(device_->synchronize());
    if (device_->simulated()) return device_->seconds_between(first, last);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  Expected<std::vector<HostArray>> outputs() override {
    std::vector<HostArray> out;
    for (const int s : executable_->outputs) {
      const ArgSpec& spec = executable_->slots[static_cast<size_t>(s)].spec;
      std::vector<std::byte> physical(static_cast<size_t>(spec.physical_bytes()));
      TW_CHECK(device_->download(at_[static_cast<size_t>(s)], physical));
      HostArray array = HostArray::make(spec.dtype, spec.shape);
      unpack_layout(spec, physical.data(), array.data.data());
      out.push_back(std::move(array));
    }
    return out;
  }

 private:
  struct GpuCall {
    const GpuLoaded* function = nullptr;
    KernelFn host = nullptr;
    std::vector<DeviceAddress> args;
  };

  Expected<void> put_input(int slot, const HostArray& array) override {
    const ArgSpec& spec = executable_->slots[static_cast<size_t>(slot)].spec;
    std::vector<std::byte> physical(static_cast<size_t>(spec.physical_bytes()));
    pack_layout(spec, array.data.data(), physical.data());
    return device_->upload(at_[static_cast<size_t>(slot)], physical);
  }

  Expected<void> place_arrays() {
    TW_TRY(arena_, GpuArray::make(*device_, executable_->arena_bytes));
    for (const Slot& slot : executable_->slots) {
      if (slot.kind == Slot::Kind::intermediate) {
        at_.push_back(arena_.at() + static_cast<DeviceAddress>(slot.offset));
        continue;
      }
      const int64_t bytes = slot.spec.physical_bytes();
      TW_TRY(GpuArray array, GpuArray::make(*device_, bytes));
      at_.push_back(array.at());
      own_.push_back(std::move(array));
      if (slot.kind != Slot::Kind::constant || bytes == 0) continue;
      std::vector<std::byte> physical(static_cast<size_t>(bytes));
      write_constant(slot, physical.data());
      TW_CHECK(device_->upload(at_.back(), physical));
    }
    return {};
  }

  Expected<void> load_functions() {
    for (const GpuFunction& f : executable_->artifact.gpu) {
      TW_TRY(functions_[f.symbol], device_->load(f));
    }
    return {};
  }

  /// Memory of the processor for every array that its calls touch.
  Expected<void> place_on_host() {
    mirror_.resize(at_.size());
    for (const Call& call : executable_->calls)
      for (const int s : call.slots) {
        const Slot& slot = executable_->slots[static_cast<size_t>(s)];
        AlignedBytes& memory = mirror_[static_cast<size_t>(s)];
        if (!call.on_host || memory) continue;
        memory = allocate_aligned(slot.spec.physical_bytes());
        if (!memory) return Error(ErrorCode::out_of_memory, fmt::format("No memory for array \"{}\" of {} bytes", slot.spec.name, slot.spec.physical_bytes()));
        if (slot.kind == Slot::Kind::constant && slot.spec.physical_bytes() > 0) write_constant(slot, memory.get());
      }
    return {};
  }

  Expected<void> enqueue_all() {
    for (size_t i = 0; i < calls_.size(); ++i) TW_CHECK(enqueue(i));
    return {};
  }

  Expected<void> enqueue(size_t i) {
    const GpuCall& c = calls_[i];
    return c.host ? run_on_host(i) : device_->launch(*c.function, c.args);
  }

  Expected<void> run_on_host(size_t i) {
    const std::vector<int>& slots = executable_->calls[i].slots;
    const KernelSignature& signature = signature_of(executable_->calls[i].symbol);
    std::vector<void*> args;
    for (size_t a = 0; a < slots.size(); ++a) {
      const auto s = static_cast<size_t>(slots[a]);
      const Slot& slot = executable_->slots[s];
      args.push_back(mirror_[s].get());
      if (slot.kind != Slot::Kind::constant && !signature.args[a].output)
        TW_CHECK(device_->download(at_[s], {mirror_[s].get(), static_cast<size_t>(slot.spec.physical_bytes())}));
    }
    const int32_t status = calls_[i].host(args.data(), pool_->api());
    TW_ASSERT(status == 0, fmt::format("kernel \"{}\" returned {}", executable_->calls[i].symbol, status));
    for (size_t a = 0; a < slots.size(); ++a) {
      const auto s = static_cast<size_t>(slots[a]);
      if (signature.args[a].output) TW_CHECK(device_->upload(at_[s], {mirror_[s].get(), static_cast<size_t>(executable_->slots[s].spec.physical_bytes())}));
    }
    return {};
  }

  const KernelSignature& signature_of(const std::string& symbol) const {
    for (const KernelSignature& k : executable_->artifact.kernels)
      if (k.name == symbol) return k;
    TW_UNREACHABLE("a call without a kernel");
  }

  /// Points around the calls of a recording, and around each of them if `each`. Null where the device records nothing.
  Expected<std::unique_ptr<GpuRecording>> record_with_marks(bool each, std::vector<int>& marks) {
    const auto mark = [&]() -> Expected<void> {
      TW_TRY(const int at, device_->mark());
      marks.push_back(at);
      return {};
    };
    return device_->record([&]() -> Expected<void> {
      TW_CHECK(mark());
      for (size_t i = 0; i < calls_.size(); ++i) {
        TW_CHECK(enqueue(i));
        if (each || i + 1 == calls_.size()) TW_CHECK(mark());
      }
      return {};
    });
  }

  /// Calls as they follow each other when the network is replayed. One by one, the processor puts them into the queue more slowly than short ones run. What
  /// the points between them cost, which a recording with none tells, is taken off each.
  Expected<double> run_recorded(const GpuRecording& whole, const std::vector<int>& ends, const GpuRecording& parts, const std::vector<int>& marks,
                                std::vector<CallTime>& times) {
    for (const GpuRecording* r : {&parts, &whole, &parts}) TW_CHECK(device_->replay(*r));  // the first comes from other caches
    TW_CHECK(device_->synchronize());
    TW_TRY(const double whole_s, device_->seconds_between(ends.front(), ends.back()));
    TW_TRY(const double parts_s, device_->seconds_between(marks.front(), marks.back()));
    const double point_s = std::max(0.0, parts_s - whole_s) / static_cast<double>(calls_.size());
    double total = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      TW_TRY(const double seconds, device_->seconds_between(marks[i], marks[i + 1]));
      times.push_back({static_cast<int>(i), std::max(0.0, seconds - point_s)});
      total += times.back().seconds;
    }
    return total;
  }

  Expected<double> run_timed(std::vector<CallTime>& times) {
    times.clear();
    TW_CHECK(device_->synchronize());
    if (!pool_ && !calls_.empty() && !device_->simulated()) {
      TW_CHECK(enqueue_all());  // once as it is: what loads late is loaded before it is recorded
      std::vector<int> ends, each;
      TW_TRY(const auto whole, record_with_marks(false, ends));
      TW_TRY(const auto parts, record_with_marks(true, each));
      if (whole && parts) return run_recorded(*whole, ends, *parts, each, times);
      device_->forget_marks();
    }
    std::vector<std::pair<int, int>> marks;
    std::vector<double> host_s(calls_.size(), 0);
    for (size_t i = 0; i < calls_.size(); ++i) {
      TW_TRY(const int from, device_->mark());
      const auto start = std::chrono::steady_clock::now();
      TW_CHECK(enqueue(i));
      if (calls_[i].host) host_s[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      TW_TRY(const int to, device_->mark());
      marks.emplace_back(from, to);
    }
    TW_CHECK(device_->synchronize());
    double total = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      double seconds = host_s[i];
      if (!calls_[i].host) {
        TW_TRY(seconds, device_->seconds_between(marks[i].first, marks[i].second));
      }
      times.push_back({static_cast<int>(i), seconds});
      total += seconds;
    }
    return total;
  }

  std::shared_ptr<GpuDevice> device_;
  std::unique_ptr<LoadedModule> host_;
  std::unique_ptr<ThreadPool> pool_;  ///< where some calls run on the processor
  GpuArray arena_;
  std::vector<GpuArray> own_;
  std::vector<DeviceAddress> at_;     ///< per slot
  std::vector<AlignedBytes> mirror_;  ///< per slot, of those that the processor's calls use
  std::map<std::string, std::unique_ptr<GpuLoaded>> functions_;
  std::vector<GpuCall> calls_;
  std::unique_ptr<GpuRecording> recording_;
  bool tried_recording_ = false;
};

}  // namespace

Expected<std::unique_ptr<GraphExecutor>> create_gpu_executor(std::shared_ptr<const Executable> executable, std::shared_ptr<GpuDevice> device,
                                                             std::unique_ptr<LoadedModule> host, int threads) {
  TW_CHECK(check_executable(*executable));
  TW_TRY(const Target target, parse_target(executable->target));
  if (!target.gpu) return Error(ErrorCode::unsupported, fmt::format("Expected code for a GPU, found code for '{}'", executable->target));
  auto self = std::make_unique<GpuExecutor>(std::move(executable), std::move(device), std::move(host));
  TW_CHECK(self->prepare(threads));
  return std::unique_ptr<GraphExecutor>(std::move(self));
}

}  // namespace tw::runtime
