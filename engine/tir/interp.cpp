// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/ir/eval.h"
#include "engine/tir/interp_warp.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

constexpr int64_t kMaxBytes = int64_t{16} << 30;
/// More threads than a block of any processor has.
constexpr int64_t kMaxThreads = 4096;

/// A statement with everything looked up: slots for variables, numbers for arrays, compiled expressions.
struct Exec {
  const StmtNode* stmt = nullptr;
  StmtKind kind = StmtKind::seq;
  bool is_float = false;
  int lanes = 1;
  int slot = 0;   ///< for, let
  int array = 0;  ///< store, alloc
  /// for: minimum, extent; store: position, value; let: value; if: condition; all_reduce: position, value before
  /// mma: position of the sums, of the operands
  const ir::EvalCode *a = nullptr, *b = nullptr, *c = nullptr;
  int other = 0, another = 0;     ///< mma: arrays of the operands
  bool meets = false;             ///< a barrier, a reduction by threads or a product by a warp stands in it
  bool shares = false;            ///< a store to a shared array stands in it
  std::vector<const Exec*> body;  ///< if: then, else
};

/// Memory of an allocation or marks of an output.
struct Memory {
  std::vector<std::byte> data;
  std::vector<uint8_t> written;
  std::vector<uint32_t> touched;
};

/// A coordinate of the running block or thread.
struct Coordinate {
  ForKind kind;
  std::string name;
  int slot;
  int64_t extent;
};

/// A variable or array of which every thread of a block has its own.
struct ThreadVar {
  int slot;
  int lanes;
  std::vector<ir::EvalValue> values;  ///< `lanes` for each thread
};
struct ThreadArray {
  size_t array;
  size_t bytes, elements;  ///< of one thread
  std::vector<std::byte> data;
  std::vector<uint8_t> written;
};

class Machine {
 public:
  Machine(const Func& f, std::span<HostArray> args, StopToken stop, ThreadOrder order) : stop_(std::move(stop)), order_(order), rng_(order.seed) {
    for (const Buffer& b : f.params) compiler_.array(b);
    program_ = compile(f.body);
    state_ = compiler_.make_state();
    memory_.resize(state_.arrays.size());
    const size_t inputs = f.params.size() - static_cast<size_t>(f.num_outputs);
    for (size_t i = 0; i < f.params.size(); ++i) {
      state_.arrays[i].data = args[i].data.data();
      if (i >= inputs) mark_unwritten(i, static_cast<size_t>(f.params[i]->num_elements()));
    }
  }

  Expected<void> run() {
    if (bytes_ > kMaxBytes) return Error(ErrorCode::resource_limit, "Expected allocations of at most 16 GiB in all, found more");
    if (run(*program_)) return {};
    Error e = *state_.error;
    if (!place_.empty()) e.notes.push_back("at " + place_);
    return e;
  }

  /// Of threads that share an element without order, what the second error reports only. After run().
  const std::optional<ir::EvalConflict>& conflict() const { return state_.conflict; }
  /// Runs again up to the first of two such accesses: its statement and thread.
  std::string find(const ir::EvalConflict& c) {
    state_.watched = &c;
    run(*program_);
    return seen_;
  }

 private:
  const Exec* compile(const Stmt& s) {
    execs_.emplace_back();
    Exec* x = &execs_.back();
    x->stmt = s.get();
    x->kind = s->kind();
    match(
        s,
        [&](const ForNode& n) {
          x->a = compiler_.compile(n.min);
          x->b = compiler_.compile(n.extent);
          has_parallel_ = has_parallel_ || is_concurrent(n.for_kind);
          const auto min = ir::as_int(n.min), extent = ir::as_int(n.extent);
          x->slot = min && extent && *extent >= 1 ? compiler_.bind(n.var.get(), *min, *extent) : compiler_.bind(n.var.get());
          x->body.push_back(compile(n.body));
        },
        [&](const StoreNode& n) {
          x->shares = n.buffer->scope == ir::Scope::shared;
          x->array = compiler_.array(n.buffer);
          x->is_float = n.value->dtype.is_float();
          x->lanes = n.value->dtype.lanes;
          x->a = compiler_.compile_position(n.buffer, n.indices, "store to");
          x->b = compiler_.compile(n.value);
          lanes_ = std::max(lanes_, x->lanes);
        },
        [&](const AllocNode& n) {
          x->array = compiler_.array(n.buffer);
          bytes_ += std::min(n.buffer->bytes(), kMaxBytes + 1);
          x->body.push_back(compile(n.body));
        },
        [&](const LetNode& n) {
          x->is_float = n.value->dtype.is_float();
          x->lanes = n.value->dtype.lanes;
          x->a = compiler_.compile(n.value);
          x->slot = compiler_.bind(n.var.get());
          x->body.push_back(compile(n.body));
        },
        [&](const IfNode& n) {
          x->a = compiler_.compile(n.cond);
          x->lanes = n.cond->dtype.lanes;
          lanes_ = std::max(lanes_, x->lanes);
          x->body.push_back(compile(n.then_body));
          if (n.else_body) x->body.push_back(compile(*n.else_body));
        },
        [&](const SeqNode& n) {
          for (const Stmt& c : n.stmts) x->body.push_back(compile(c));
        },
        [&](const SyncNode&) { x->meets = true; },
        [&](const AllReduceNode& n) {
          x->meets = true;
          x->array = compiler_.array(n.buffer);
          x->is_float = n.buffer->dtype.is_float();
          x->a = compiler_.compile_position(n.buffer, n.indices, "reduction of");
          x->b = compiler_.compile(ir::load(n.buffer, n.indices));
        },
        [&](const AsyncNode& n) { x->body.push_back(compile(n.body)); }, [](const WaitNode&) {},
        [&](const MmaNode& n) {
          x->meets = true;
          const auto place = [&](const Expr& e, int& array) {
            const auto& l = *ir::as<ir::LoadNode>(e);
            array = compiler_.array(l.buffer);
            return compiler_.compile_position(l.buffer, l.indices, "product of");
          };
          x->a = place(n.sums, x->array);
          x->b = place(n.a.first, x->other);
          x->c = place(n.b.first, x->another);
        });
    for (const Exec* c : x->body) {
      x->meets = x->meets || c->meets;
      x->shares = x->shares || c->shares;
    }
    return x;
  }

  /// False after an error.
  bool run(const Exec& x) {
    switch (x.kind) {
      case StmtKind::for_:
        return run_for(x);
      case StmtKind::store:
        return run_store(x);
      case StmtKind::alloc:
        return run_alloc(x);
      case StmtKind::let:
        return run_let(x);
      case StmtKind::if_: {
        if (x.lanes > 1) return run_masked(x);
        const bool taken = ir::eval_int(*x.a, state_) != 0;
        if (state_.error) return failed(x);
        return taken ? run(*x.body[0]) : x.body.size() < 2 || run(*x.body[1]);
      }
      case StmtKind::seq:
        return std::all_of(x.body.begin(), x.body.end(), [&](const Exec* s) { return run(*s); });
      case StmtKind::async: {
        copies_.begin(thread());
        const bool ok = run(*x.body[0]);
        copies_.end();
        return ok;
      }
      case StmtKind::wait:
        return run_wait(x);
      case StmtKind::sync:
      case StmtKind::all_reduce:
      case StmtKind::mma:
        break;  // together() runs them
    }
    return false;
  }

  size_t thread() const { return state_.iteration - state_.first_iteration; }

  bool run_wait(const Exec& x) {
    const bool ok = copies_.wait(thread(), static_cast<const WaitNode*>(x.stmt)->pending, state_, [&] {
      if (state_.seen) saw(x);
    });
    return ok || failed(x);
  }

  /// Stores, or begins to copy where the statement stands in a group.
  void put(const Exec& x, ir::EvalArray& array, int64_t position, ir::EvalValue v) {
    if (copies_.in_group() && x.shares)
      copies_.add(array, static_cast<size_t>(x.array), position, v);
    else
      ir::store_element(array, position, v);
  }

  bool run_for(const Exec& x) {
    const ForKind kind = static_cast<const ForNode*>(x.stmt)->for_kind;
    if (is_block(kind) || is_thread(kind)) return run_launch(x);
    const int64_t min = ir::eval_int(*x.a, state_), extent = ir::eval_int(*x.b, state_);
    if (state_.error) return failed(x);
    const auto& loop = *static_cast<const ForNode*>(x.stmt);
    // Of nested parallel loops the outermost decides what runs at the same time.
    const bool parallel = is_concurrent(loop.for_kind) && state_.iteration == 0;
    if (parallel) state_.first_iteration = state_.block_begin = state_.launch_begin = iterations_ + 1;
    int64_t& var = state_.vars[static_cast<size_t>(x.slot)].i;
    for (int64_t k = 0; k < extent; ++k) {
      var = min + k;
      if (parallel) state_.iteration = ++iterations_;
      if (!run(*x.body[0])) {
        place_ = fmt::format("{} = {}{}{}", loop.var->name, min + k, place_.empty() ? "" : ", ", place_);
        return false;
      }
    }
    if (parallel) state_.iteration = 0;
    return true;
  }

  bool run_masked(const Exec& x) {
    const std::vector<uint8_t> outer = mask_;
    std::vector<uint8_t> taken(static_cast<size_t>(x.lanes), 0), rest = taken;
    for (int lane = 0; lane < x.lanes; ++lane) {
      if (!active(lane)) continue;
      state_.lane = lane;
      taken[static_cast<size_t>(lane)] = ir::eval_int(*x.a, state_) != 0;
      rest[static_cast<size_t>(lane)] = !taken[static_cast<size_t>(lane)];
    }
    state_.lane = 0;
    if (state_.error) return failed(x);
    mask_ = taken;
    bool ok = run(*x.body[0]);
    if (ok && x.body.size() > 1) {
      mask_ = rest;
      ok = run(*x.body[1]);
    }
    mask_ = outer;
    return ok;
  }
  bool active(int lane) const { return mask_.empty() || mask_[static_cast<size_t>(lane)] != 0; }

  bool run_store(const Exec& x) {
    if (++stores_ % 4096 == 0 && stop_.stop_requested()) {
      state_.fail(ErrorCode::cancelled, "Cancelled while interpreting", "");
      return false;
    }
    ir::EvalArray& array = state_.arrays[static_cast<size_t>(x.array)];
    if (x.lanes == 1) {
      const int64_t p = ir::eval_int(*x.a, state_);
      const ir::EvalValue v = ir::eval(*x.b, x.is_float, state_);
      if (!state_.error && array.touched && state_.iteration != 0) ir::note_write(array, p, state_);
      if (state_.error) return failed(x);
      if (state_.seen) saw(x);
      put(x, array, p, v);
      return true;
    }
    positions_.resize(static_cast<size_t>(lanes_));
    values_.resize(static_cast<size_t>(lanes_));
    for (int lane = 0; lane < x.lanes; ++lane) {
      if (!active(lane)) continue;
      state_.lane = lane;
      positions_[static_cast<size_t>(lane)] = ir::eval_int(*x.a, state_);
      values_[static_cast<size_t>(lane)] = ir::eval(*x.b, x.is_float, state_);
    }
    state_.lane = 0;
    for (int lane = 0; lane < x.lanes && !state_.error && array.touched && state_.iteration != 0; ++lane)
      if (active(lane)) ir::note_write(array, positions_[static_cast<size_t>(lane)], state_);
    if (state_.error) return failed(x);
    if (state_.seen) saw(x);
    for (int lane = 0; lane < x.lanes; ++lane)
      if (active(lane)) put(x, array, positions_[static_cast<size_t>(lane)], values_[static_cast<size_t>(lane)]);
    return true;
  }

  bool run_let(const Exec& x) {
    const DType t = static_cast<const LetNode*>(x.stmt)->value->dtype.element();
    for (int lane = 0; lane < x.lanes; ++lane) {
      state_.lane = lane;
      state_.vars[static_cast<size_t>(x.slot + lane)] = ir::rounded(t, ir::eval(*x.a, x.is_float, state_));
    }
    state_.lane = 0;
    return state_.error ? failed(x) : run(*x.body[0]);
  }

  bool run_alloc(const Exec& x) {
    allocate(x);
    return run(*x.body[0]);
  }

  void allocate(const Exec& x) {
    const auto i = static_cast<size_t>(x.array);
    const Buffer& b = state_.arrays[i].buffer;
    memory_[i].data.resize(static_cast<size_t>(b->bytes()));
    state_.arrays[i].data = memory_[i].data.data();
    mark_unwritten(i, static_cast<size_t>(b->num_elements()));
  }

  void mark_unwritten(size_t array, size_t elements) {
    memory_[array].written.assign(elements, 0);
    state_.arrays[array].written = memory_[array].written.data();
    if (!has_parallel_) return;
    // Memory that an iteration allocates is its own.
    const bool shared = state_.iteration == 0;
    if (shared) memory_[array].touched.assign(3 * elements, 0);
    state_.arrays[array].touched = shared ? memory_[array].touched.data() : nullptr;
  }

  /// Runs the blocks of a launch one after the other.
  bool run_launch(const Exec& x) {
    state_.threads = true;
    state_.launch_begin = iterations_ + 1;
    const bool ok = run_blocks(x);
    state_.threads = false;
    state_.iteration = 0;
    return ok;
  }

  bool run_blocks(const Exec& x) {
    const auto* loop = x.kind == StmtKind::for_ ? static_cast<const ForNode*>(x.stmt) : nullptr;
    if (!loop || !is_block(loop->for_kind)) return run_block(x);
    const int64_t extent = *ir::as_int(loop->extent);
    coordinates_.push_back({loop->for_kind, loop->var->name, x.slot, extent});
    bool ok = true;
    for (int64_t k = 0; ok && k < extent; ++k) {
      state_.vars[static_cast<size_t>(x.slot)].i = k;
      ok = run_blocks(*x.body[0]);
    }
    coordinates_.pop_back();
    return ok;
  }

  /// One block: its shared arrays, the loops over its threads, and then all threads together.
  bool run_block(const Exec& block) {
    const size_t blocks = coordinates_.size();
    state_.iteration = 0;
    threads_ = 1;
    const Exec* x = &block;
    for (;; x = x->body[0]) {
      if (x->kind == StmtKind::alloc && static_cast<const AllocNode*>(x->stmt)->buffer->scope == ir::Scope::shared) {
        allocate(*x);
      } else if (const auto* loop = x->kind == StmtKind::for_ ? static_cast<const ForNode*>(x->stmt) : nullptr; loop && is_thread(loop->for_kind)) {
        coordinates_.push_back({loop->for_kind, loop->var->name, x->slot, *ir::as_int(loop->extent)});
        threads_ *= *ir::as_int(loop->extent);
      } else {
        break;
      }
    }
    if (threads_ > kMaxThreads) {
      state_.fail(ErrorCode::invalid_argument, fmt::format("Expected at most {} threads in a block, found {}", kMaxThreads, threads_), "");
      return false;
    }
    int64_t inner = threads_;
    for (size_t c = blocks; c < coordinates_.size(); ++c) {
      inner /= coordinates_[c].extent;
      ThreadVar var{coordinates_[c].slot, 1, std::vector<ir::EvalValue>(static_cast<size_t>(threads_))};
      for (int64_t t = 0; t < threads_; ++t) var.values[static_cast<size_t>(t)].i = t / inner % coordinates_[c].extent;
      thread_vars_.push_back(std::move(var));
    }
    order_threads();
    copies_.start(static_cast<size_t>(threads_));
    if (!next_epoch()) return false;
    state_.block_begin = state_.first_iteration;
    const bool ok = together(*x);
    thread_vars_.clear();
    coordinates_.resize(blocks);
    return ok;
  }

  void order_threads() {
    sequence_.resize(static_cast<size_t>(threads_));
    std::iota(sequence_.begin(), sequence_.end(), 0);
    if (order_.kind == ThreadOrder::Kind::reverse) std::reverse(sequence_.begin(), sequence_.end());
    if (order_.kind == ThreadOrder::Kind::shuffled)
      for (size_t k = sequence_.size(); k > 1; --k) std::swap(sequence_[k - 1], sequence_[rng_.uniform(k)]);
  }

  /// New numbers for the threads: what they did before is ordered before what they do now.
  bool next_epoch() {
    if (iterations_ > UINT32_MAX - 2 * kMaxThreads) {
      state_.fail(ErrorCode::resource_limit, "Expected at most 2^32 turns of threads between barriers, found more", "");
      return false;
    }
    state_.first_iteration = iterations_ + 1;
    iterations_ += static_cast<uint32_t>(threads_);
    return true;
  }

  void become(size_t thread) {
    for (const ThreadVar& v : thread_vars_)
      for (int lane = 0; lane < v.lanes; ++lane)
        state_.vars[static_cast<size_t>(v.slot + lane)] = v.values[thread * static_cast<size_t>(v.lanes) + static_cast<size_t>(lane)];
    for (ThreadArray& a : thread_arrays_) {
      state_.arrays[a.array].data = a.data.data() + thread * a.bytes;
      state_.arrays[a.array].written = a.written.data() + thread * a.elements;
    }
    state_.iteration = state_.first_iteration + static_cast<uint32_t>(thread);
  }

  /// All threads of the block run a statement. False after an error.
  bool together(const Exec& x) {
    if (!x.meets && !(x.shares && goes_together(x))) {
      for (const size_t t : sequence_) {
        become(t);
        if (!run(x)) return failed_in(t);
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
      case StmtKind::for_: {
        const auto min = agreed(x, *x.a, "the first iteration of a loop with a barrier inside");
        const auto extent = min ? agreed(x, *x.b, "the length of a loop with a barrier inside") : std::nullopt;
        if (!extent) return false;
        for (int64_t k = 0; k < *extent; ++k) {
          state_.vars[static_cast<size_t>(x.slot)].i = *min + k;
          if (together(*x.body[0])) continue;
          place_ = fmt::format("{} = {}{}{}", static_cast<const ForNode*>(x.stmt)->var->name, *min + k, place_.empty() ? "" : ", ", place_);
          return false;
        }
        return true;
      }
      case StmtKind::let: {
        const DType type = static_cast<const LetNode*>(x.stmt)->value->dtype.element();
        ThreadVar var{x.slot, x.lanes, {}};
        for (int64_t t = 0; t < threads_; ++t) {
          become(static_cast<size_t>(t));
          for (int lane = 0; lane < x.lanes; ++lane) {
            state_.lane = lane;
            var.values.push_back(ir::rounded(type, ir::eval(*x.a, x.is_float, state_)));
          }
          state_.lane = 0;
          if (state_.error) return failed(x) || failed_in(static_cast<size_t>(t));
        }
        thread_vars_.push_back(std::move(var));
        const bool ok = together(*x.body[0]);
        thread_vars_.pop_back();
        return ok;
      }
      case StmtKind::alloc: {
        const ir::BufferNode& b = *static_cast<const AllocNode*>(x.stmt)->buffer;
        ThreadArray a{static_cast<size_t>(x.array), static_cast<size_t>(b.bytes()), static_cast<size_t>(b.num_elements()), {}, {}};
        a.data.resize(a.bytes * static_cast<size_t>(threads_));
        a.written.resize(a.elements * static_cast<size_t>(threads_));
        state_.arrays[a.array].touched = nullptr;
        thread_arrays_.push_back(std::move(a));
        const bool ok = together(*x.body[0]);
        thread_arrays_.pop_back();
        return ok;
      }
      case StmtKind::store:
      case StmtKind::async:
      case StmtKind::wait:
        break;
    }
    return false;
  }

  /// Statements that are run one for all threads before the next although no barrier asks for it: a missing one shows as a race then, not as a read of nothing.
  static bool goes_together(const Exec& x) {
    const auto* loop = x.kind == StmtKind::for_ ? static_cast<const ForNode*>(x.stmt) : nullptr;
    return x.kind == StmtKind::seq || x.kind == StmtKind::alloc || (loop && ir::as_int(loop->min) && ir::as_int(loop->extent));
  }

  /// The value that all threads find; nothing after an error, which two different values are.
  std::optional<int64_t> agreed(const Exec& x, const ir::EvalCode& code, const char* what) {
    std::optional<int64_t> all;
    for (int64_t t = 0; t < threads_; ++t) {
      become(static_cast<size_t>(t));
      const int64_t mine = ir::eval_int(code, state_);
      if (!all) all = mine;
      if (mine != *all)
        state_.fail(ErrorCode::wrong_result,
                    fmt::format("Expected all threads of a block to meet at a barrier, found {} to be {} in {} and {} in {}", what, *all, thread_name_of(0),
                                mine, thread_name_of(static_cast<size_t>(t))),
                    "");
      if (!state_.error) continue;
      failed(x);
      failed_in(static_cast<size_t>(t));
      return std::nullopt;
    }
    return all;
  }

  bool combine_threads(const Exec& x) {
    const auto& n = *static_cast<const AllReduceNode*>(x.stmt);
    int64_t stride = threads_, extent = 1;
    bool found = false;
    for (const Coordinate& c : coordinates_) {
      if (is_block(c.kind) || found) continue;
      stride /= c.extent;
      found = c.kind == n.thread;
      if (found) extent = c.extent;
    }
    if (!found) return true;  // a single one in this direction
    std::vector<int64_t> positions;
    std::vector<ir::EvalValue> values;
    for (int64_t t = 0; t < threads_; ++t) {
      become(static_cast<size_t>(t));
      positions.push_back(ir::eval_int(*x.a, state_));
      values.push_back(ir::eval(*x.b, x.is_float, state_));
      if (state_.error) return failed(x) || failed_in(static_cast<size_t>(t));
    }
    for (int64_t t = 0; t < threads_; ++t) {
      if (t / stride % extent != 0) continue;
      ir::EvalValue sum = values[static_cast<size_t>(t)];
      for (int64_t k = 1; k < extent; ++k) sum = combined(n, sum, values[static_cast<size_t>(t + k * stride)]);
      for (int64_t k = 0; k < extent; ++k) {
        become(static_cast<size_t>(t + k * stride));
        ir::store_element(state_.arrays[static_cast<size_t>(x.array)], positions[static_cast<size_t>(t + k * stride)], sum);
      }
    }
    return true;
  }

  /// A product of two tiles by each warp.
  bool multiply_tiles(const Exec& x) {
    const auto& n = *static_cast<const MmaNode*>(x.stmt);
    int64_t stride = threads_;
    const auto along_x = std::find_if(coordinates_.begin(), coordinates_.end(), [&](const Coordinate& c) {
      if (!is_block(c.kind)) stride /= c.extent;
      return c.kind == ForKind::thread_x;
    });
    if (along_x == coordinates_.end() || along_x->extent != kLanes || stride != 1) {
      state_.fail(ErrorCode::invalid_argument, fmt::format("Expected {} threads along threadIdx.x, innermost, for a product by a warp", kLanes), "");
      return failed(x);
    }
    const auto array = [&](int number) -> ir::EvalArray& { return state_.arrays[static_cast<size_t>(number)]; };
    for (int64_t t = 0; t < threads_; ++t) {
      become(static_cast<size_t>(t));
      const WarpTiles here{ir::eval_int(*x.a, state_), ir::eval_int(*x.b, state_), ir::eval_int(*x.c, state_)};
      if (t % kLanes == 0) first_lane_ = here;
      if (!state_.error) multiply_as_lane(n, t % kLanes, here, first_lane_, array(x.array), array(x.other), array(x.another), state_);
      if (state_.error) return failed(x) || failed_in(static_cast<size_t>(t));
      if (state_.seen) saw(x);
    }
    return true;
  }

  static ir::EvalValue combined(const AllReduceNode& n, ir::EvalValue a, ir::EvalValue b) {
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

  std::string thread_name_of(size_t thread) const {
    std::string out;
    size_t v = 0;
    for (const Coordinate& c : coordinates_)
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", c.name,
                         is_block(c.kind) ? state_.vars[static_cast<size_t>(c.slot)].i : thread_vars_[v++].values[thread].i);
    return out.empty() ? "the only thread" : out;
  }

  /// Adds the thread to the place of an error. Always false.
  bool failed_in(size_t thread) {
    place_ = fmt::format("{}{}{}", thread_name_of(thread), place_.empty() ? "" : ", ", place_);
    return false;
  }

  static std::string text_of(const Exec& x) {
    std::string text = print(Stmt(x.stmt));
    text = text.substr(0, std::min(text.find('\n'), size_t{200}));
    const std::string stage = x.stmt->origin.stage < 0 ? "" : fmt::format(" of stage {}", x.stmt->origin.stage);
    return fmt::format("statement '{}'{}", text, stage);
  }

  /// Adds the statement to the error. Always false.
  bool failed(const Exec& x) {
    state_.error->notes.push_back("in " + text_of(x));
    return false;
  }

  /// The first of two accesses has happened in `x`: there is nothing more to find.
  void saw(const Exec& x) {
    if (!seen_.empty()) return;
    seen_ = fmt::format("first touched in {} by {}", text_of(x), thread_name_of(state_.iteration - state_.first_iteration));
    state_.seen = false;
  }

  StopToken stop_;
  ir::EvalCompiler compiler_;
  ir::EvalState state_;
  std::deque<Exec> execs_;
  std::vector<Memory> memory_;  ///< by array number
  const Exec* program_ = nullptr;
  int64_t bytes_ = 0;
  int lanes_ = 1;
  std::vector<uint8_t> mask_;  ///< lanes that the vector conditions around let through; empty for all
  std::vector<int64_t> positions_;
  std::vector<ir::EvalValue> values_;
  uint64_t stores_ = 0;
  uint32_t iterations_ = 0;  ///< of parallel loops so far
  ThreadOrder order_;
  Rng rng_;
  int64_t threads_ = 0;                  ///< in a block
  std::vector<size_t> sequence_;         ///< of the threads of the running block
  std::vector<Coordinate> coordinates_;  ///< of the running block, then of its threads, outermost first
  std::vector<ThreadVar> thread_vars_;   ///< those of the coordinates first
  std::vector<ThreadArray> thread_arrays_;
  CopiesUnderWay copies_;  ///< of the running block
  WarpTiles first_lane_;   ///< what that of the running warp multiplies
  std::string seen_;
  bool has_parallel_ = false;
  std::string place_;
};

}  // namespace

Expected<void> interpret(const Func& f, std::span<HostArray> args, StopToken stop, ThreadOrder order) {
  if (auto valid = verify(f, VerifyLevel::shape); !valid) {
    Error e = valid.error();
    e.code = ErrorCode::invalid_argument;
    return e;
  }
  if (args.size() != f.params.size()) return Error(ErrorCode::invalid_argument, fmt::format("Expected {} arguments, found {}", f.params.size(), args.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    const ir::BufferNode& b = *f.params[i];
    const HostArray& a = args[i];
    if (a.dtype != b.dtype || a.shape != b.shape || a.data.size() != static_cast<size_t>(b.bytes()))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} of shape {} for parameter '{}', found {} of shape {} in {} bytes", b.dtype.name(),
                                                            shape_text(b.shape), b.name, a.dtype.name(), shape_text(a.shape), a.data.size()));
  }
  Machine machine(f, args, stop, order);
  Expected<void> done = machine.run();
  if (done || !machine.conflict() || machine.conflict()->first == 0) return done;
  // Control flow does not read what a launch writes before it fails, so a second run comes by the same accesses.
  Error e = done.error();
  const std::string first = Machine(f, args, std::move(stop), order).find(*machine.conflict());
  if (!first.empty()) e.notes.push_back(first);
  return e;
}

}  // namespace tw::tir
