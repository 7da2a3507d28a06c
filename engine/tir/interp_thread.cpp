// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp_thread.h"

#include <algorithm>

namespace tw::tir::interp {

bool ThreadRunner::run(const Exec& x) {
  ir::EvalState& state = m_.state;
  switch (x.kind) {
    case StmtKind::for_:
      return run_for(x);
    case StmtKind::store:
      return run_store(x);
    case StmtKind::alloc:
      m_.allocate(x);
      return run(*x.body[0]);
    case StmtKind::let:
      return run_let(x);
    case StmtKind::if_: {
      if (x.lanes > 1) return run_masked(x);
      const bool taken = ir::eval_int(*x.a, state) != 0;
      if (state.error) return m_.failed(x);
      return taken ? run(*x.body[0]) : x.body.size() < 2 || run(*x.body[1]);
    }
    case StmtKind::seq:
      return std::all_of(x.body.begin(), x.body.end(), [&](const Exec* s) { return run(*s); });
    case StmtKind::async: {
      m_.copies.begin(m_.thread());
      const bool ok = run(*x.body[0]);
      m_.copies.end();
      return ok;
    }
    case StmtKind::wait:
      return run_wait(x);
    case StmtKind::sync:
    case StmtKind::all_reduce:
    case StmtKind::mma:
      break;  // all threads of a block run them together
  }
  return false;
}

bool ThreadRunner::run_wait(const Exec& x) {
  const bool ok = m_.copies.wait(m_.thread(), static_cast<const WaitNode*>(x.stmt)->pending, m_.state, [&] {
    if (m_.state.seen) m_.saw(x);
  });
  return ok || m_.failed(x);
}

bool ThreadRunner::run_for(const Exec& x) {
  ir::EvalState& state = m_.state;
  const auto& loop = *static_cast<const ForNode*>(x.stmt);
  if (is_block(loop.for_kind) || is_thread(loop.for_kind)) return launch_(x);
  const int64_t min = ir::eval_int(*x.a, state), extent = ir::eval_int(*x.b, state);
  if (state.error) return m_.failed(x);
  // Of nested parallel loops the outermost decides what runs at the same time.
  const bool parallel = is_concurrent(loop.for_kind) && state.iteration == 0;
  if (parallel) state.first_iteration = state.block_begin = state.launch_begin = m_.iterations + 1;
  int64_t& var = state.vars[static_cast<size_t>(x.slot)].i;
  for (int64_t k = 0; k < extent; ++k) {
    var = min + k;
    if (parallel) state.iteration = ++m_.iterations;
    if (!run(*x.body[0])) return m_.failed_at(loop, min + k);
  }
  if (parallel) state.iteration = 0;
  return true;
}

bool ThreadRunner::run_masked(const Exec& x) {
  const std::vector<uint8_t> outer = mask_;
  std::vector<uint8_t> taken(static_cast<size_t>(x.lanes), 0), rest = taken;
  for (int lane = 0; lane < x.lanes; ++lane) {
    if (!active(lane)) continue;
    m_.state.lane = lane;
    taken[static_cast<size_t>(lane)] = ir::eval_int(*x.a, m_.state) != 0;
    rest[static_cast<size_t>(lane)] = !taken[static_cast<size_t>(lane)];
  }
  m_.state.lane = 0;
  if (m_.state.error) return m_.failed(x);
  mask_ = taken;
  bool ok = run(*x.body[0]);
  if (ok && x.body.size() > 1) {
    mask_ = rest;
    ok = run(*x.body[1]);
  }
  mask_ = outer;
  return ok;
}

/// Stores, or begins to copy where the statement stands in a group.
void ThreadRunner::put(const Exec& x, ir::EvalArray& array, int64_t position, ir::EvalValue v) {
  if (m_.copies.in_group() && x.shares)
    m_.copies.add(array, static_cast<size_t>(x.array), position, v);
  else
    ir::store_element(array, position, v);
}

bool ThreadRunner::run_store(const Exec& x) {
  if (++stores_ % 4096 == 0 && stop_.stop_requested()) return m_.fail(ErrorCode::cancelled, "Cancelled while interpreting");
  if (x.lanes > 1) return run_vector_store(x);
  ir::EvalState& state = m_.state;
  ir::EvalArray& array = state.arrays[static_cast<size_t>(x.array)];
  const int64_t p = ir::eval_int(*x.a, state);
  const ir::EvalValue v = ir::eval(*x.b, x.is_float, state);
  if (!state.error && array.touched && state.iteration != 0) ir::note_write(array, p, state);
  if (state.error) return m_.failed(x);
  if (state.seen) m_.saw(x);
  put(x, array, p, v);
  return true;
}

bool ThreadRunner::run_vector_store(const Exec& x) {
  ir::EvalState& state = m_.state;
  ir::EvalArray& array = state.arrays[static_cast<size_t>(x.array)];
  positions_.resize(static_cast<size_t>(m_.program.lanes()));
  values_.resize(static_cast<size_t>(m_.program.lanes()));
  for (int lane = 0; lane < x.lanes; ++lane) {
    if (!active(lane)) continue;
    state.lane = lane;
    positions_[static_cast<size_t>(lane)] = ir::eval_int(*x.a, state);
    values_[static_cast<size_t>(lane)] = ir::eval(*x.b, x.is_float, state);
  }
  state.lane = 0;
  for (int lane = 0; lane < x.lanes && !state.error && array.touched && state.iteration != 0; ++lane)
    if (active(lane)) ir::note_write(array, positions_[static_cast<size_t>(lane)], state);
  if (state.error) return m_.failed(x);
  if (state.seen) m_.saw(x);
  for (int lane = 0; lane < x.lanes; ++lane)
    if (active(lane)) put(x, array, positions_[static_cast<size_t>(lane)], values_[static_cast<size_t>(lane)]);
  return true;
}

bool ThreadRunner::run_let(const Exec& x) {
  ir::EvalState& state = m_.state;
  const DType t = static_cast<const LetNode*>(x.stmt)->value->dtype.element();
  for (int lane = 0; lane < x.lanes; ++lane) {
    state.lane = lane;
    state.vars[static_cast<size_t>(x.slot + lane)] = ir::rounded(t, ir::eval(*x.a, x.is_float, state));
  }
  state.lane = 0;
  return state.error ? m_.failed(x) : run(*x.body[0]);
}

}  // namespace tw::tir::interp
