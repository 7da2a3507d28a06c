// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/interp.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "engine/base/text.h"
#include "engine/ir/eval.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

constexpr int64_t kMaxBytes = int64_t{16} << 30;

/// A statement with everything looked up: slots for variables, numbers for arrays, compiled expressions.
struct Exec {
  const StmtNode* stmt = nullptr;
  StmtKind kind = StmtKind::seq;
  bool is_float = false;
  int lanes = 1;
  int slot = 0;                                   ///< for, let
  int array = 0;                                  ///< store, alloc
  const ir::EvalCode *a = nullptr, *b = nullptr;  ///< for: minimum, extent; store: position, value; let: value; if: condition
  std::vector<const Exec*> body;                  ///< if: then, else
};

/// Memory of an allocation or marks of an output.
struct Memory {
  std::vector<std::byte> data;
  std::vector<uint8_t> written;
  std::vector<uint32_t> touched;
};

class Machine {
 public:
  Machine(const Func& f, std::span<HostArray> args, StopToken stop) : stop_(std::move(stop)) {
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
        });
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
    }
    return false;
  }

  bool run_for(const Exec& x) {
    const int64_t min = ir::eval_int(*x.a, state_), extent = ir::eval_int(*x.b, state_);
    if (state_.error) return failed(x);
    const auto& loop = *static_cast<const ForNode*>(x.stmt);
    // Of nested parallel loops the outermost decides what runs at the same time.
    const bool parallel = is_concurrent(loop.for_kind) && state_.iteration == 0;
    if (parallel) state_.first_iteration = iterations_ + 1;
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
      ir::store_element(array, p, v);
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
    for (int lane = 0; lane < x.lanes; ++lane)
      if (active(lane)) ir::store_element(array, positions_[static_cast<size_t>(lane)], values_[static_cast<size_t>(lane)]);
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
    const auto i = static_cast<size_t>(x.array);
    const Buffer& b = state_.arrays[i].buffer;
    memory_[i].data.resize(static_cast<size_t>(b->bytes()));
    state_.arrays[i].data = memory_[i].data.data();
    mark_unwritten(i, static_cast<size_t>(b->num_elements()));
    return run(*x.body[0]);
  }

  void mark_unwritten(size_t array, size_t elements) {
    memory_[array].written.assign(elements, 0);
    state_.arrays[array].written = memory_[array].written.data();
    if (!has_parallel_) return;
    // Memory that an iteration allocates is its own.
    const bool shared = state_.iteration == 0;
    if (shared) memory_[array].touched.assign(2 * elements, 0);
    state_.arrays[array].touched = shared ? memory_[array].touched.data() : nullptr;
  }

  /// Adds the statement to the error. Always false.
  bool failed(const Exec& x) {
    std::string text = print(Stmt(x.stmt));
    text = text.substr(0, std::min(text.find('\n'), size_t{200}));
    state_.error->notes.push_back("in statement '" + text + "'");
    return false;
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
  bool has_parallel_ = false;
  std::string place_;
};

}  // namespace

Expected<void> interpret(const Func& f, std::span<HostArray> args, StopToken stop) {
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
  return Machine(f, args, std::move(stop)).run();
}

}  // namespace tw::tir
