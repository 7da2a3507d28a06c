// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "engine/base/text.h"
#include "engine/ir/eval.h"
#include "engine/te/dag.h"

namespace tw::te {

namespace {

constexpr int64_t kMaxBytes = int64_t{16} << 30;
/// Intermediate arrays up to this many elements are remembered in a flat table, larger ones in a hash map.
constexpr int64_t kMaxFlat = int64_t{1} << 22;

/// The elements of one op that have been computed on demand.
class Memo {
 public:
  explicit Memo(int64_t elements) : elements_(elements) {}

  const ir::EvalValue* find(int64_t position) const {
    if (elements_ > kMaxFlat) {
      const auto it = sparse_.find(position);
      return it == sparse_.end() ? nullptr : &it->second;
    }
    return !ready_.empty() && ready_[static_cast<size_t>(position)] ? &flat_[static_cast<size_t>(position)] : nullptr;
  }
  void put(int64_t position, ir::EvalValue v) {
    if (elements_ > kMaxFlat) {
      sparse_[position] = v;
      return;
    }
    if (ready_.empty()) {
      ready_.resize(static_cast<size_t>(elements_));
      flat_.resize(static_cast<size_t>(elements_));
    }
    ready_[static_cast<size_t>(position)] = 1;
    flat_[static_cast<size_t>(position)] = v;
  }

 private:
  int64_t elements_;
  std::vector<uint8_t> ready_;
  std::vector<ir::EvalValue> flat_;
  std::unordered_map<int64_t, ir::EvalValue> sparse_;
};

/// An op's body ready to run.
struct Compiled {
  const Op* op = nullptr;
  const ir::EvalCode* body = nullptr;  ///< null for placeholders
  bool is_float = false;
  std::vector<int> axis_slots, reduce_slots;
};

/// Computes single elements of ops; what they read comes from arrays with storage or, through the memo, from here again.
class Oracle final : public ir::ElementSource {
 public:
  Oracle(const Dag& dag, StopToken stop) : stop_(std::move(stop)) {
    for (const Op& op : dag.ops) {
      Compiled c{.op = &op, .body = nullptr, .is_float = op.output->dtype.is_float(), .axis_slots = {}, .reduce_slots = {}};
      compiler_.array(op.output);
      memos_.emplace_back(op.output->num_elements());
      if (op.body) {
        for (const Axis& a : op.axes) c.axis_slots.push_back(compiler_.bind(a.var.get(), 0, a.extent));
        for (const Axis& a : op.reduce_axes) c.reduce_slots.push_back(compiler_.bind(a.var.get(), 0, a.extent));
        c.body = compiler_.compile(*op.body);
      }
      compiled_.push_back(std::move(c));
    }
    state_ = compiler_.make_state();
    state_.source = this;
  }

  void give(int op, const HostArray& storage) { state_.arrays[static_cast<size_t>(op)].data = const_cast<std::byte*>(storage.data.data()); }
  bool ok() const { return !state_.error; }
  const Error& error() const { return *state_.error; }

  /// As it is stored: floats rounded to the buffer's type, integers wrapped.
  ir::EvalValue compute(int index, int64_t position) {
    const Compiled& c = compiled_[static_cast<size_t>(index)];
    const DType t = c.op->output->dtype;
    for (size_t d = c.axis_slots.size(); d-- > 0;) {
      slot(c.axis_slots[d]) = position % c.op->axes[d].extent;
      position /= c.op->axes[d].extent;
    }
    ir::EvalValue v = c.op->reducer == Reducer::none ? eval_body(c) : reduce(c);
    if (!ok()) {
      if (state_.error->notes.empty()) state_.error->notes.push_back("computing op '" + printable(c.op->name) + "'");
      return ir::EvalValue{};
    }
    if (c.is_float)
      v.f = round_to(t, v.f);
    else
      v.i = ir::wrap_int(t, v.i);
    return v;
  }

  ir::EvalValue element(int array, int64_t position) override {
    Memo& memo = memos_[static_cast<size_t>(array)];
    if (const ir::EvalValue* known = memo.find(position)) return *known;
    const ir::EvalValue v = compute(array, position);
    memo.put(position, v);
    return v;
  }

 private:
  int64_t& slot(int s) { return state_.vars[static_cast<size_t>(s)].i; }

  ir::EvalValue eval_body(const Compiled& c) {
    if (++evaluations_ % 4096 == 0 && stop_.stop_requested()) state_.fail(ErrorCode::cancelled, "Cancelled while interpreting", "");
    return ir::eval(*c.body, c.is_float, state_);
  }

  static ir::EvalValue identity(Reducer r, const Compiled& c) {
    ir::EvalValue v{};
    const ir::Expr e = reducer_identity(r, c.op->output->dtype);
    if (const auto* f = ir::as<ir::FloatImmNode>(e))
      v.f = f->value;
    else
      v.i = ir::as<ir::IntImmNode>(e)->value;
    return v;
  }

  ir::EvalValue reduce(const Compiled& c) {
    ir::EvalValue total = identity(c.op->reducer, c);
    for (const int s : c.reduce_slots) slot(s) = 0;
    while (ok()) {
      const ir::EvalValue v = eval_body(c);
      if (c.is_float)
        total.f = combine_float(c.op->reducer, total.f, v.f);
      else
        total.i = combine_int(c.op->reducer, c.op->output->dtype == kUInt64, total.i, v.i);
      size_t d = c.reduce_slots.size();
      while (d > 0 && ++slot(c.reduce_slots[d - 1]) == c.op->reduce_axes[d - 1].extent) slot(c.reduce_slots[--d]) = 0;
      if (d == 0) break;
    }
    return total;
  }

  static double combine_float(Reducer r, double a, double b) {
    switch (r) {
      case Reducer::sum:
        return a + b;
      case Reducer::prod:
        return a * b;
      case Reducer::max:
        return ir::nan_max(a, b);
      case Reducer::min:
        return ir::nan_min(a, b);
      case Reducer::none:
        break;
    }
    return b;
  }

  static int64_t combine_int(Reducer r, bool is_unsigned, int64_t a, int64_t b) {
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    const bool less = is_unsigned ? ua < ub : a < b;
    switch (r) {
      case Reducer::sum:
        return static_cast<int64_t>(ua + ub);
      case Reducer::prod:
        return static_cast<int64_t>(ua * ub);
      case Reducer::max:
        return less ? b : a;
      case Reducer::min:
        return less ? a : b;
      case Reducer::none:
        break;
    }
    return b;
  }

  ir::EvalCompiler compiler_;
  ir::EvalState state_;
  std::vector<Compiled> compiled_;
  std::vector<Memo> memos_;
  StopToken stop_;
  uint64_t evaluations_ = 0;
};

/// The dag is well-formed and the inputs are what its placeholders ask for.
Expected<void> check(const Dag& dag, std::span<const HostArray> inputs) {
  if (auto valid = verify(dag); !valid) {
    Error e = valid.error();
    e.code = ErrorCode::invalid_argument;
    return e;
  }
  size_t n = 0;
  for (const Op& op : dag.ops) {
    if (!op.is_placeholder()) continue;
    const ir::BufferNode& b = *op.output;
    if (n >= inputs.size()) return Error(ErrorCode::invalid_argument, fmt::format("Expected an input for placeholder '{}', found {} inputs only", op.name, n));
    const HostArray& a = inputs[n++];
    if (a.dtype != b.dtype || a.shape != b.shape || a.data.size() != static_cast<size_t>(b.bytes()))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} of shape {} for placeholder '{}', found {} of shape {} in {} bytes", b.dtype.name(),
                                                            shape_text(b.shape), op.name, a.dtype.name(), shape_text(a.shape), a.data.size()));
  }
  if (n != inputs.size()) return Error(ErrorCode::invalid_argument, fmt::format("Expected {} inputs, found {}", n, inputs.size()));
  return {};
}

void give_inputs(Oracle& oracle, const Dag& dag, std::span<const HostArray> inputs) {
  size_t n = 0;
  for (size_t i = 0; i < dag.ops.size(); ++i)
    if (dag.ops[i].is_placeholder()) oracle.give(static_cast<int>(i), inputs[n++]);
}

Error with_code(Error e) {
  if (e.code == ErrorCode::internal) e.code = ErrorCode::invalid_argument;
  return e;
}

}  // namespace

Expected<std::vector<HostArray>> interpret(const Dag& dag, std::span<const HostArray> inputs, StopToken stop) {
  TW_CHECK(check(dag, inputs));
  int64_t bytes = 0;
  for (const Op& op : dag.ops) {
    bytes += std::min(op.output->bytes(), kMaxBytes + 1);
    if (bytes > kMaxBytes) return Error(ErrorCode::resource_limit, "Expected arrays of at most 16 GiB in all to interpret, found more");
  }
  Oracle oracle(dag, std::move(stop));
  give_inputs(oracle, dag, inputs);
  std::vector<HostArray> storage(dag.ops.size());
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    const ir::BufferNode& b = *dag.ops[i].output;
    if (dag.ops[i].is_placeholder()) continue;
    storage[i] = HostArray::make(b.dtype, b.shape);
    for (int64_t p = 0; p < b.num_elements(); ++p) {
      const ir::EvalValue v = oracle.compute(static_cast<int>(i), p);
      if (!oracle.ok()) return with_code(oracle.error());
      if (b.dtype.is_float())
        storage[i].set(p, v.f);
      else
        storage[i].set_int(p, v.i);
    }
    oracle.give(static_cast<int>(i), storage[i]);
  }
  std::vector<HostArray> out;
  for (const int o : dag.outputs) out.push_back(std::move(storage[static_cast<size_t>(o)]));
  return out;
}

Expected<std::vector<double>> interpret_at(const Dag& dag, std::span<const HostArray> inputs, int output, std::span<const int64_t> positions, StopToken stop) {
  TW_CHECK(check(dag, inputs));
  if (output < 0 || static_cast<size_t>(output) >= dag.outputs.size())
    return Error(ErrorCode::invalid_argument, fmt::format("Expected an output below {}, found {}", dag.outputs.size(), output));
  const int op = dag.outputs[static_cast<size_t>(output)];
  const ir::BufferNode& b = *dag.ops[static_cast<size_t>(op)].output;
  Oracle oracle(dag, std::move(stop));
  give_inputs(oracle, dag, inputs);
  std::vector<double> out;
  for (const int64_t p : positions) {
    if (p < 0 || p >= b.num_elements())
      return Error(ErrorCode::invalid_argument, fmt::format("Expected positions below {} in output '{}', found {}", b.num_elements(), b.name, p));
    const ir::EvalValue v = oracle.element(op, p);
    if (!oracle.ok()) return with_code(oracle.error());
    out.push_back(b.dtype.is_float() ? v.f : ir::int_to_double(b.dtype, v.i));
  }
  return out;
}

}  // namespace tw::te
