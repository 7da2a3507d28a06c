// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/graph_executor.h"

#include <chrono>
#include <cstring>

#include "engine/base/text.h"
#include "engine/runtime/executable_json.h"
#include "engine/runtime/workspace.h"
#include "engine/target/target.h"

namespace tw::runtime {

struct GraphExecutor::Impl {
  struct PreparedCall {
    KernelFn kernel;
    std::vector<void*> args;
  };

  std::shared_ptr<const Executable> executable;
  std::unique_ptr<LoadedModule> module;
  std::unique_ptr<ThreadPool> pool;
  AlignedBytes arena;
  std::vector<AlignedBytes> own;   ///< inputs, outputs and constants that need memory of their own
  std::vector<std::byte*> memory;  ///< per slot
  std::vector<PreparedCall> calls;
  bool inputs_set = false;

  Expected<void> place_slots();
  Expected<void> prepare_calls();
};

Expected<void> GraphExecutor::Impl::place_slots() {
  const auto no_memory = [](const std::string& what, int64_t bytes) {
    return Error(ErrorCode::out_of_memory, fmt::format("No memory for {} of {} bytes", what, bytes));
  };
  arena = allocate_aligned(executable->arena_bytes);
  if (!arena) return no_memory("the arena", executable->arena_bytes);
  for (const Slot& slot : executable->slots) {
    if (slot.kind == Slot::Kind::intermediate) {
      memory.push_back(arena.get() + slot.offset);
      continue;
    }
    const int64_t bytes = slot.spec.physical_bytes();
    own.push_back(allocate_aligned(bytes));
    if (!own.back()) return no_memory(fmt::format("array \"{}\"", slot.spec.name), bytes);
    if (slot.kind == Slot::Kind::constant && bytes > 0) write_constant(slot, own.back().get());
    memory.push_back(own.back().get());
  }
  return {};
}

Expected<void> GraphExecutor::Impl::prepare_calls() {
  for (const Call& call : executable->calls) {
    TW_TRY(const KernelFn kernel, module->find(call.symbol));
    PreparedCall prepared{kernel, {}};
    for (const int slot : call.slots) prepared.args.push_back(memory[static_cast<size_t>(slot)]);
    calls.push_back(std::move(prepared));
  }
  return {};
}

GraphExecutor::GraphExecutor() : impl_(std::make_unique<Impl>()) {}
GraphExecutor::~GraphExecutor() = default;

Expected<std::unique_ptr<GraphExecutor>> GraphExecutor::create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module,
                                                               int threads) {
  TW_CHECK(check_executable(*executable));
  if (threads <= 0) {
    TW_TRY(const Target target, parse_target(executable->target));
    threads = target.cores;
  }
  std::unique_ptr<GraphExecutor> self(new GraphExecutor());
  self->impl_->executable = std::move(executable);
  self->impl_->module = std::move(module);
  TW_CHECK(self->impl_->place_slots());
  TW_CHECK(self->impl_->prepare_calls());
  self->impl_->pool = std::make_unique<ThreadPool>(threads);
  return self;
}

Expected<void> GraphExecutor::set_inputs(const std::map<std::string, HostArray>& inputs) {
  const Executable& e = *impl_->executable;
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
  for (const int s : e.inputs) {
    const ArgSpec& spec = e.slots[static_cast<size_t>(s)].spec;
    pack_layout(spec, inputs.at(spec.name).data.data(), impl_->memory[static_cast<size_t>(s)]);
  }
  impl_->inputs_set = true;
  return {};
}

void GraphExecutor::run(std::vector<CallTime>* times) {
  using Clock = std::chrono::steady_clock;
  TW_ASSERT(impl_->inputs_set || impl_->executable->inputs.empty(), "set_inputs comes before run");
  const ThreadPool::Hot hot(*impl_->pool);
  const RuntimeApi* api = impl_->pool->api();
  if (times) times->clear();
  for (size_t i = 0; i < impl_->calls.size(); ++i) {
    const Impl::PreparedCall& call = impl_->calls[i];
    const auto start = times ? Clock::now() : Clock::time_point{};
    const int32_t status = call.kernel(call.args.data(), api);
    if (times) times->push_back({static_cast<int>(i), std::chrono::duration<double>(Clock::now() - start).count()});
    TW_ASSERT(status == 0, fmt::format("kernel \"{}\" returned {}", impl_->executable->calls[i].symbol, status));
  }
}

std::vector<HostArray> GraphExecutor::outputs() const {
  std::vector<HostArray> out;
  for (const int s : impl_->executable->outputs) {
    const ArgSpec& spec = impl_->executable->slots[static_cast<size_t>(s)].spec;
    HostArray array = HostArray::make(spec.dtype, spec.shape);
    unpack_layout(spec, impl_->memory[static_cast<size_t>(s)], array.data.data());
    out.push_back(std::move(array));
  }
  return out;
}

}  // namespace tw::runtime
