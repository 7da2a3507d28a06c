// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/graph_executor.h"

#include <chrono>
#include <cstring>

#include "engine/base/text.h"
#include "engine/runtime/executable_json.h"
#include "engine/runtime/flush_denormals.h"
#include "engine/runtime/workspace.h"
#include "engine/target/target.h"

namespace tw::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMostMemory = int64_t{1} << 46;  ///< of memory for a network; no processor of today addresses more

class HostExecutor final : public GraphExecutor {
 public:
  HostExecutor(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module)
      : GraphExecutor(std::move(executable)), module_(std::move(module)) {}

  Expected<void> prepare(std::shared_ptr<ThreadPool> pool) {
    TW_CHECK(place_slots());
    TW_CHECK(prepare_calls());
    pool_ = std::move(pool);
    return {};
  }

  Expected<double> run(std::vector<CallTime>* times) override {
    TW_ASSERT(inputs_set_ || executable_->inputs.empty(), "set_inputs comes before run");
    if (times) {
      times->clear();
      times->reserve(calls_.size());
    }
    const auto begin = Clock::now();
    const ThreadPool::Hot hot(*pool_);
    const FlushDenormals flush;
    const RuntimeApi* api = pool_->api();
    auto start = begin;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const PreparedCall& call = calls_[i];
      const int64_t wakes = pool_->wakes();
      const int32_t status = call.kernel(call.args.data(), api);
      TW_ASSERT(status == 0, fmt::format("kernel \"{}\" returned {}", executable_->calls[i].symbol, status));
      if (!times) continue;
      const auto end = Clock::now();
      times->push_back({static_cast<int>(i), std::chrono::duration<double>(end - start).count(), pool_->wakes() != wakes});
      start = end;
    }
    return std::chrono::duration<double>((times ? start : Clock::now()) - begin).count();
  }

  Expected<std::vector<HostArray>> outputs() override {
    std::vector<HostArray> out;
    for (const int s : executable_->outputs) {
      const ArgSpec& spec = executable_->slots[static_cast<size_t>(s)].spec;
      HostArray array = HostArray::make(spec.dtype, spec.shape);
      unpack_layout(spec, memory_[static_cast<size_t>(s)], array.data.data());
      out.push_back(std::move(array));
    }
    return out;
  }

 private:
  struct PreparedCall {
    KernelFn kernel;
    std::vector<void*> args;
  };

  Expected<void> put_input(int slot, const HostArray& array) override {
    const auto s = static_cast<size_t>(slot);
    pack_layout(executable_->slots[s].spec, array.data.data(), memory_[s]);
    return {};
  }

  Expected<void> place_slots() {
    // In one piece, since small arrays on pages of their own would not lie in huge ones.
    std::vector<int64_t> places;
    int64_t own_bytes = 0;
    for (const Slot& slot : executable_->slots) {
      places.push_back(own_bytes);
      if (slot.kind == Slot::Kind::intermediate) continue;
      const int64_t bytes = slot.spec.physical_bytes();
      if (bytes > kMostMemory - own_bytes) return Error(ErrorCode::out_of_memory, fmt::format("No memory for array \"{}\" of {} bytes", slot.spec.name, bytes));
      own_bytes += (bytes + kArrayAlign - 1) / kArrayAlign * kArrayAlign;
    }
    arena_ = allocate_aligned(executable_->arena_bytes);
    if (!arena_) return Error(ErrorCode::out_of_memory, fmt::format("No memory for the arena of {} bytes", executable_->arena_bytes));
    own_ = allocate_aligned(own_bytes);
    if (!own_) return Error(ErrorCode::out_of_memory, fmt::format("No memory for constants, inputs and outputs of {} bytes", own_bytes));
    for (size_t i = 0; i < places.size(); ++i) {
      const Slot& slot = executable_->slots[i];
      const bool own = slot.kind != Slot::Kind::intermediate;
      memory_.push_back(own ? own_.get() + places[i] : arena_.get() + slot.offset);
      if (slot.kind == Slot::Kind::constant && slot.spec.physical_bytes() > 0) write_constant(slot, memory_.back());
    }
    return {};
  }

  Expected<void> prepare_calls() {
    for (const Call& call : executable_->calls) {
      TW_TRY(const KernelFn kernel, module_->find(call.symbol));
      PreparedCall prepared{kernel, {}};
      for (const int slot : call.slots) prepared.args.push_back(memory_[static_cast<size_t>(slot)]);
      calls_.push_back(std::move(prepared));
    }
    return {};
  }

  std::unique_ptr<LoadedModule> module_;
  std::shared_ptr<ThreadPool> pool_;
  AlignedBytes arena_;
  AlignedBytes own_;                ///< inputs, outputs and constants
  std::vector<std::byte*> memory_;  ///< per slot
  std::vector<PreparedCall> calls_;
};

}  // namespace

void write_constant(const Slot& slot, std::byte* out) {
  if (!slot.packed) return pack_layout(slot.spec, slot.data->data(), out);
  std::memcpy(out, slot.data->data(), slot.data->size());
}

Expected<std::unique_ptr<GraphExecutor>> GraphExecutor::create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module,
                                                               int threads) {
  TW_TRY(const Target target, parse_target(executable->target));
  return create(std::move(executable), std::move(module), std::make_shared<ThreadPool>(threads > 0 ? threads : ThreadPool::with_processors(target.cores)));
}

Expected<std::unique_ptr<GraphExecutor>> GraphExecutor::create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module,
                                                               std::shared_ptr<ThreadPool> pool) {
  TW_CHECK(check_executable(*executable));
  TW_TRY(const Target target, parse_target(executable->target));
  if (target.gpu) return Error(ErrorCode::unsupported, fmt::format("Expected code for a processor, found code for '{}'", executable->target));
  auto self = std::make_unique<HostExecutor>(std::move(executable), std::move(module));
  TW_CHECK(self->prepare(std::move(pool)));
  return std::unique_ptr<GraphExecutor>(std::move(self));
}

Expected<void> GraphExecutor::set_inputs(const std::map<std::string, HostArray>& inputs) {
  const Executable& e = *executable_;
  size_t used = 0;
  for (const int s : e.inputs) {
    const ArgSpec& spec = e.slots[static_cast<size_t>(s)].spec;
    const auto it = inputs.find(spec.name);
    if (it == inputs.end()) return Error(ErrorCode::invalid_argument, fmt::format("Input \"{}\" is missing", spec.name));
    const HostArray& array = it->second;
    if (array.dtype != spec.dtype || array.shape != spec.shape) {
      return Error(ErrorCode::invalid_argument, fmt::format("Input \"{}\" is {} {}, expected {} {}", spec.name, array.dtype.name(), shape_text(array.shape),
                                                            spec.dtype.name(), shape_text(spec.shape)));
    }
    ++used;
  }
  if (used < inputs.size()) {
    for (const auto& [name, array] : inputs) {
      bool known = false;
      for (const int s : e.inputs) known |= e.slots[static_cast<size_t>(s)].spec.name == name;
      if (!known) return Error(ErrorCode::invalid_argument, fmt::format("The network has no input \"{}\"", name));
    }
  }
  for (const int s : e.inputs) TW_CHECK(put_input(s, inputs.at(e.slots[static_cast<size_t>(s)].spec.name)));
  inputs_set_ = true;
  return {};
}

}  // namespace tw::runtime
