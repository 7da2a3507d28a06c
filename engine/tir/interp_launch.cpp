// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp_launch.h"

#include <algorithm>
#include <numeric>

#include "engine/base/text.h"

namespace tw::tir::interp {

namespace {

/// More threads than a block of any processor has.
constexpr int64_t kMaxThreads = 4096;

/// Statements that are run one for all threads before the next although no barrier asks for it: a missing one shows as a race then, not as a read of nothing.
bool goes_together(const Exec& x) {
  const auto* loop = x.kind == StmtKind::for_ ? static_cast<const ForNode*>(x.stmt) : nullptr;
  return x.kind == StmtKind::seq || x.kind == StmtKind::alloc || (loop && ir::as_int(loop->min) && ir::as_int(loop->extent));
}

ir::EvalValue combined(const AllReduceNode& n, ir::EvalValue a, ir::EvalValue b) {
  const DType t = n.buffer->dtype;
  if (t.is_float()) {
    const double v = n.combine == ir::BinaryOp::add   ? a.f + b.f
                     : n.combine == ir::BinaryOp::mul ? a.f * b.f
                     : n.combine == ir::BinaryOp::min ? ir::nan_min(a.f, b.f)
                                                      : ir::nan_max(a.f, b.f);
    a.f = v;
    return ir::rounded(t, a);
  }
  const bool less = t.is_signed() ? a.i < b.i : static_cast<uint64_t>(a.i) < static_cast<uint64_t>(b.i);
  const auto x = static_cast<uint64_t>(a.i), y = static_cast<uint64_t>(b.i);
  const uint64_t v = n.combine == ir::BinaryOp::add ? x + y : n.combine == ir::BinaryOp::mul ? x * y : (n.combine == ir::BinaryOp::min) == less ? x : y;
  a.i = ir::wrap_int(t, static_cast<int64_t>(v));
  return a;
}

}  // namespace

bool LaunchRunner::run(const Exec& x) {
  m_.state.threads = true;
  m_.state.launch_begin = m_.iterations + 1;
  const bool ok = run_blocks(x);
  m_.state.threads = false;
  m_.state.iteration = 0;
  return ok;
}

bool LaunchRunner::run_blocks(const Exec& x) {
  const auto* loop = x.kind == StmtKind::for_ ? static_cast<const ForNode*>(x.stmt) : nullptr;
  if (!loop || !is_block(loop->for_kind)) return run_block(x);
  const int64_t extent = *ir::as_int(loop->extent);
  m_.threads.coordinates.push_back({loop->for_kind, loop->var->name, x.slot, extent});
  bool ok = true;
  for (int64_t k = 0; ok && k < extent; ++k) {
    m_.state.vars[static_cast<size_t>(x.slot)].i = k;
    ok = run_blocks(*x.body[0]);
  }
  m_.threads.coordinates.pop_back();
  return ok;
}

/// One block: its shared arrays, the loops over its threads, and then all threads together.
bool LaunchRunner::run_block(const Exec& block) {
  BlockThreads& threads = m_.threads;
  const size_t blocks = threads.coordinates.size();
  m_.state.iteration = 0;
  threads.count = 1;
  const Exec* x = &block;
  for (;; x = x->body[0]) {
    if (x->kind == StmtKind::alloc && static_cast<const AllocNode*>(x->stmt)->buffer->scope == ir::Scope::shared) {
      m_.allocate(*x);
    } else if (const auto* loop = x->kind == StmtKind::for_ ? static_cast<const ForNode*>(x->stmt) : nullptr; loop && is_thread(loop->for_kind)) {
      threads.coordinates.push_back({loop->for_kind, loop->var->name, x->slot, *ir::as_int(loop->extent)});
      threads.count *= *ir::as_int(loop->extent);
    } else {
      break;
    }
  }
  if (threads.count > kMaxThreads)
    return m_.fail(ErrorCode::invalid_argument, fmt::format("Expected at most {} threads in a block, found {}", kMaxThreads, threads.count));
  threads.number(blocks);
  order_threads();
  m_.copies.start(static_cast<size_t>(threads.count));
  if (!next_epoch()) return false;
  m_.state.block_begin = m_.state.first_iteration;
  const bool ok = together(*x);
  threads.vars.clear();
  threads.coordinates.resize(blocks);
  return ok;
}

void LaunchRunner::order_threads() {
  sequence_.resize(static_cast<size_t>(m_.threads.count));
  std::iota(sequence_.begin(), sequence_.end(), 0);
  if (order_.kind == ThreadOrder::Kind::reverse) std::reverse(sequence_.begin(), sequence_.end());
  if (order_.kind == ThreadOrder::Kind::shuffled)
    for (size_t k = sequence_.size(); k > 1; --k) std::swap(sequence_[k - 1], sequence_[rng_.uniform(k)]);
}

/// New numbers for the threads: what they did before is ordered before what they do now.
bool LaunchRunner::next_epoch() {
  if (m_.iterations > UINT32_MAX - 2 * kMaxThreads)
    return m_.fail(ErrorCode::resource_limit, "Expected at most 2^32 turns of threads between barriers, found more");
  m_.state.first_iteration = m_.iterations + 1;
  m_.iterations += static_cast<uint32_t>(m_.threads.count);
  return true;
}

/// All threads of the block run a statement. False after an error.
bool LaunchRunner::together(const Exec& x) {
  if (!x.meets && !(x.shares && goes_together(x))) {
    for (const size_t t : sequence_) {
      m_.become(t);
      if (!one_.run(x)) return m_.failed_in(t);
    }
    return true;
  }
  switch (x.kind) {
    case StmtKind::sync:
      return next_epoch();
    case StmtKind::all_reduce:
      return combine_threads(x);
    case StmtKind::mma:
      return multiply_tiles(x);
    case StmtKind::seq:
      return std::all_of(x.body.begin(), x.body.end(), [&](const Exec* s) { return together(*s); });
    case StmtKind::if_: {
      const auto taken = agreed(x, *x.a, "the condition of a branch with a barrier inside");
      if (!taken) return false;
      return *taken ? together(*x.body[0]) : x.body.size() < 2 || together(*x.body[1]);
    }
    case StmtKind::for_:
      return loop_together(x);
    case StmtKind::let:
      return let_together(x);
    case StmtKind::alloc:
      return alloc_together(x);
    case StmtKind::store:
    case StmtKind::async:
    case StmtKind::wait:
      break;
  }
  return false;
}

bool LaunchRunner::loop_together(const Exec& x) {
  const auto min = agreed(x, *x.a, "the first iteration of a loop with a barrier inside");
  const auto extent = min ? agreed(x, *x.b, "the length of a loop with a barrier inside") : std::nullopt;
  if (!extent) return false;
  for (int64_t k = 0; k < *extent; ++k) {
    m_.state.vars[static_cast<size_t>(x.slot)].i = *min + k;
    if (!together(*x.body[0])) return m_.failed_at(*static_cast<const ForNode*>(x.stmt), *min + k);
  }
  return true;
}

bool LaunchRunner::let_together(const Exec& x) {
  const DType type = static_cast<const LetNode*>(x.stmt)->value->dtype.element();
  BlockThreads::ThreadVar var{x.slot, x.lanes, {}};
  for (int64_t t = 0; t < m_.threads.count; ++t) {
    m_.become(static_cast<size_t>(t));
    for (int lane = 0; lane < x.lanes; ++lane) {
      m_.state.lane = lane;
      var.values.push_back(ir::rounded(type, ir::eval(*x.a, x.is_float, m_.state)));
    }
    m_.state.lane = 0;
    if (m_.state.error) return m_.failed(x) || m_.failed_in(static_cast<size_t>(t));
  }
  m_.threads.vars.push_back(std::move(var));
  const bool ok = together(*x.body[0]);
  m_.threads.vars.pop_back();
  return ok;
}

bool LaunchRunner::alloc_together(const Exec& x) {
  const ir::BufferNode& b = *static_cast<const AllocNode*>(x.stmt)->buffer;
  BlockThreads::ThreadArray a{static_cast<size_t>(x.array), static_cast<size_t>(b.bytes()), static_cast<size_t>(b.num_elements()), {}, {}};
  a.data.resize(a.bytes * static_cast<size_t>(m_.threads.count));
  a.written.resize(a.elements * static_cast<size_t>(m_.threads.count));
  m_.state.arrays[a.array].touched = nullptr;
  m_.threads.arrays.push_back(std::move(a));
  const bool ok = together(*x.body[0]);
  m_.threads.arrays.pop_back();
  return ok;
}

/// The value that all threads find; nothing after an error, which two different values are.
std::optional<int64_t> LaunchRunner::agreed(const Exec& x, const ir::EvalCode& code, const char* what) {
  std::optional<int64_t> all;
  for (int64_t t = 0; t < m_.threads.count; ++t) {
    m_.become(static_cast<size_t>(t));
    const int64_t mine = ir::eval_int(code, m_.state);
    if (!all) all = mine;
    if (mine != *all)
      m_.fail(ErrorCode::wrong_result, fmt::format("Expected all threads of a block to meet at a barrier, found {} to be {} in {} and {} in {}", what, *all,
                                                   m_.threads.name(0, m_.state), mine, m_.threads.name(static_cast<size_t>(t), m_.state)));
    if (!m_.state.error) continue;
    m_.failed(x);
    m_.failed_in(static_cast<size_t>(t));
    return std::nullopt;
  }
  return all;
}

bool LaunchRunner::combine_threads(const Exec& x) {
  const auto& n = *static_cast<const AllReduceNode*>(x.stmt);
  const int64_t count = m_.threads.count;
  int64_t stride = count, extent = 1;
  bool found = false;
  for (const BlockThreads::Coordinate& c : m_.threads.coordinates) {
    if (is_block(c.kind) || found) continue;
    stride /= c.extent;
    found = c.kind == n.thread;
    if (found) extent = c.extent;
  }
  if (!found) return true;  // a single one in this direction
  std::vector<int64_t> positions;
  std::vector<ir::EvalValue> values;
  for (int64_t t = 0; t < count; ++t) {
    m_.become(static_cast<size_t>(t));
    positions.push_back(ir::eval_int(*x.a, m_.state));
    values.push_back(ir::eval(*x.b, x.is_float, m_.state));
    if (m_.state.error) return m_.failed(x) || m_.failed_in(static_cast<size_t>(t));
  }
  for (int64_t t = 0; t < count; ++t) {
    if (t / stride % extent != 0) continue;
    ir::EvalValue sum = values[static_cast<size_t>(t)];
    for (int64_t k = 1; k < extent; ++k) sum = combined(n, sum, values[static_cast<size_t>(t + k * stride)]);
    for (int64_t k = 0; k < extent; ++k) {
      m_.become(static_cast<size_t>(t + k * stride));
      ir::store_element(m_.state.arrays[static_cast<size_t>(x.array)], positions[static_cast<size_t>(t + k * stride)], sum);
    }
  }
  return true;
}

/// A product of two tiles by each warp.
bool LaunchRunner::multiply_tiles(const Exec& x) {
  const auto& n = *static_cast<const MmaNode*>(x.stmt);
  const std::vector<BlockThreads::Coordinate>& coordinates = m_.threads.coordinates;
  int64_t stride = m_.threads.count;
  const auto along_x = std::find_if(coordinates.begin(), coordinates.end(), [&](const BlockThreads::Coordinate& c) {
    if (!is_block(c.kind)) stride /= c.extent;
    return c.kind == ForKind::thread_x;
  });
  if (along_x == coordinates.end() || along_x->extent != kLanes || stride != 1) {
    m_.fail(ErrorCode::invalid_argument, fmt::format("Expected {} threads along threadIdx.x, innermost, for a product by a warp", kLanes));
    return m_.failed(x);
  }
  ir::EvalState& state = m_.state;
  const auto array = [&](int number) -> ir::EvalArray& { return state.arrays[static_cast<size_t>(number)]; };
  for (int64_t t = 0; t < m_.threads.count; ++t) {
    m_.become(static_cast<size_t>(t));
    const WarpTiles here{ir::eval_int(*x.a, state), ir::eval_int(*x.b, state), ir::eval_int(*x.c, state)};
    if (t % kLanes == 0) first_lane_ = here;
    if (!state.error) multiply_as_lane(n, t % kLanes, here, first_lane_, array(x.array), array(x.other), array(x.another), state);
    if (state.error) return m_.failed(x) || m_.failed_in(static_cast<size_t>(t));
    if (state.seen) m_.saw(x);
  }
  return true;
}

}  // namespace tw::tir::interp
