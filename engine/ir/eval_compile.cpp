// SPDX-License-Identifier: Apache-2.0
#include "engine/base/host_array.h"
#include "engine/base/text.h"
#include "engine/ir/eval_affine.h"
#include "engine/ir/eval_code.h"
#include "engine/ir/print.h"
#include "engine/ir/visit.h"

namespace tw::ir {

namespace {

EvalOp float_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return EvalOp::f_add;
    case BinaryOp::sub:
      return EvalOp::f_sub;
    case BinaryOp::mul:
      return EvalOp::f_mul;
    case BinaryOp::div:
      return EvalOp::f_div;
    case BinaryOp::floor_div:
      return EvalOp::f_floor_div;
    case BinaryOp::floor_mod:
      return EvalOp::f_floor_mod;
    case BinaryOp::min:
      return EvalOp::f_min;
    case BinaryOp::max:
      return EvalOp::f_max;
    case BinaryOp::eq:
      return EvalOp::f_eq;
    case BinaryOp::ne:
      return EvalOp::f_ne;
    case BinaryOp::lt:
      return EvalOp::f_lt;
    case BinaryOp::le:
      return EvalOp::f_le;
    default:
      TW_UNREACHABLE(std::string("float operands of ") + binary_op_name(op));
  }
}

EvalOp int_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
      return EvalOp::add;
    case BinaryOp::sub:
      return EvalOp::sub;
    case BinaryOp::mul:
      return EvalOp::mul;
    case BinaryOp::div:
      return EvalOp::div;
    case BinaryOp::floor_div:
      return EvalOp::floor_div;
    case BinaryOp::floor_mod:
      return EvalOp::floor_mod;
    case BinaryOp::min:
      return EvalOp::min;
    case BinaryOp::max:
      return EvalOp::max;
    case BinaryOp::eq:
      return EvalOp::eq;
    case BinaryOp::ne:
      return EvalOp::ne;
    case BinaryOp::lt:
      return EvalOp::lt;
    case BinaryOp::le:
      return EvalOp::le;
    case BinaryOp::and_:
      return EvalOp::and_;
    case BinaryOp::or_:
      return EvalOp::or_;
    case BinaryOp::bit_and:
      return EvalOp::bit_and;
    case BinaryOp::bit_or:
      return EvalOp::bit_or;
    case BinaryOp::bit_xor:
      return EvalOp::bit_xor;
    case BinaryOp::shl:
      return EvalOp::shl;
    case BinaryOp::shr:
      return EvalOp::shr;
  }
  TW_UNREACHABLE("binary operator");
}

/// Where 64 unsigned bits differ from an int64 (narrower unsigned numbers are non-negative int64 values already).
EvalOp unsigned_op(EvalOp op) {
  switch (op) {
    case EvalOp::div:
    case EvalOp::floor_div:
      return EvalOp::u_div;
    case EvalOp::floor_mod:
      return EvalOp::u_mod;
    case EvalOp::min:
      return EvalOp::u_min;
    case EvalOp::max:
      return EvalOp::u_max;
    case EvalOp::lt:
      return EvalOp::u_lt;
    case EvalOp::le:
      return EvalOp::u_le;
    case EvalOp::shr:
      return EvalOp::u_shr;
    default:
      return op;
  }
}

bool can_leave_type(EvalOp op) {
  return op == EvalOp::add || op == EvalOp::sub || op == EvalOp::mul || op == EvalOp::shl || op == EvalOp::div || op == EvalOp::floor_div;
}

}  // namespace

EvalCompiler::EvalCompiler() = default;
EvalCompiler::~EvalCompiler() = default;

int EvalCompiler::bind(const VarNode* var) {
  slots_[var] = num_slots_;
  done_.clear();  // compiled reads of the variable belong to its former slot
  num_slots_ += var->dtype.lanes;
  return num_slots_ - var->dtype.lanes;
}

int EvalCompiler::bind(const VarNode* var, int64_t min, int64_t extent) {
  const int slot = bind(var);
  ranges_[slot] = {min, min + extent - 1};
  return slot;
}

int EvalCompiler::array(const Buffer& buffer) {
  const auto [it, fresh] = array_numbers_.emplace(buffer.get(), static_cast<int>(buffers_.size()));
  if (fresh) buffers_.push_back(buffer);
  return it->second;
}

EvalState EvalCompiler::make_state() const {
  EvalState s;
  s.vars.resize(static_cast<size_t>(num_slots_));
  for (const Buffer& b : buffers_) s.arrays.push_back({b});
  return s;
}

EvalCode* EvalCompiler::code(const Expr& e) {
  codes_.emplace_back();
  codes_.back().type = e->dtype.element();
  return &codes_.back();
}

const EvalCode* EvalCompiler::compile(const Expr& e) {
  if (const auto it = done_.find(e.get()); it != done_.end()) return it->second;
  kept_.push_back(e);
  return done_[e.get()] = compile_new(e);
}

const EvalCode* EvalCompiler::wrapped(const EvalCode* value, DType t) {
  if (t.bits == 64) return value;
  codes_.emplace_back();
  EvalCode* w = &codes_.back();
  w->op = EvalOp::wrap;
  w->type = t.element();
  w->may_fail = value->may_fail;
  w->a = value;
  return w;
}

const EvalCode* EvalCompiler::binary(const BinaryNode& n) {
  const DType t = n.a->dtype.element();
  EvalCode* c = code(Expr(&n));
  c->a = compile(n.a);
  c->b = compile(n.b);
  c->type = t;
  c->may_fail = c->a->may_fail || c->b->may_fail;
  if (t.is_float()) {
    c->op = float_op(n.op);
    if (n.op != BinaryOp::div) return c;
    EvalCode* rounded = code(n.a);
    rounded->op = EvalOp::f_round;
    rounded->a = c;
    rounded->may_fail = c->may_fail;
    return rounded;
  }
  c->op = t == kUInt64 ? unsigned_op(int_op(n.op)) : int_op(n.op);
  if (n.op == BinaryOp::div || n.op == BinaryOp::floor_div || n.op == BinaryOp::floor_mod) {
    const auto divisor = as_int(n.b);
    c->may_fail = c->may_fail || !divisor || *divisor == 0;
  }
  if (c->b->may_fail && n.op == BinaryOp::and_) c->op = EvalOp::eager_and;
  if (c->b->may_fail && n.op == BinaryOp::or_) c->op = EvalOp::eager_or;
  return can_leave_type(c->op) ? wrapped(c, t) : c;
}

const EvalCode* EvalCompiler::cast(const CastNode& n) {
  const DType from = n.value->dtype.element(), to = n.dtype.element();
  EvalCode* c = code(Expr(&n));
  c->a = compile(n.value);
  c->may_fail = c->a->may_fail;
  c->type = to;
  if (to.is_float()) {
    c->op = from.is_float() ? EvalOp::f_round : EvalOp::from_int;
    if (from.is_float()) return c;
    c->type = from;
    EvalCode* rounded = code(Expr(&n));
    rounded->op = EvalOp::f_round;
    rounded->a = c;
    rounded->may_fail = c->may_fail;
    return rounded;
  }
  c->op = !from.is_float() ? EvalOp::wrap : to.is_bool() ? EvalOp::f_to_bool : EvalOp::f_to_int;
  return c;
}

/// One sum where every index is affine over variables of known range and certainly inside its dimension; null otherwise.
EvalCode* EvalCompiler::affine_position(const Buffer& buffer, const std::vector<Expr>& indices) {
  EvalAffine sum;
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto index = affine_form(indices[d], {slots_, ranges_});
    const int64_t extent = indices.size() == 1 ? buffer->num_elements() : buffer->shape[d];
    if (!index || index->lo < 0 || index->hi >= extent) return nullptr;
    const auto next = affine_sum(sum, extent, *index);
    if (!next) return nullptr;
    sum = *next;
  }
  codes_.emplace_back();
  EvalCode* c = &codes_.back();
  c->op = EvalOp::affine;
  c->value.i = array(buffer);
  c->terms = sum.terms;
  c->offset = sum.offset;
  c->lane_step = sum.lane_step;
  return c;
}

const EvalCode* EvalCompiler::position(const Buffer& buffer, const std::vector<Expr>& indices, std::string text) {
  if (EvalCode* sum = affine_position(buffer, indices)) {
    sum->text = std::move(text);
    return sum;
  }
  codes_.emplace_back();
  EvalCode* c = &codes_.back();
  c->may_fail = true;
  c->value.i = array(buffer);
  c->text = std::move(text);
  c->op = EvalOp::position;
  c->dims = buffer->shape;
  if (indices.size() == 1 && buffer->shape.size() != 1) c->dims = {buffer->num_elements()};
  if (indices.size() == 1) c->op = EvalOp::flat_position;
  for (const Expr& i : indices) c->kids.push_back(compile(i));
  return c;
}

const EvalCode* EvalCompiler::compile_position(const Buffer& buffer, const std::vector<Expr>& indices, const char* access) {
  return position(buffer, indices, fmt::format("{} '{}'", access, ir::print(ir::load(buffer, indices))));
}

const EvalCode* EvalCompiler::load(const LoadNode& n) {
  EvalCode* c = code(Expr(&n));
  c->op = n.dtype.is_float() ? EvalOp::f_load : EvalOp::load;
  c->may_fail = true;
  c->value.i = array(n.buffer);
  c->a = position(n.buffer, n.indices, fmt::format("load '{}'", ir::print(Expr(&n))));
  return c;
}

const EvalCode* EvalCompiler::compile_new(const Expr& e) {
  const bool is_float = e->dtype.is_float();
  return match(
      e,
      [&](const IntImmNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->value.i = n.value;
        return c;
      },
      [&](const FloatImmNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->op = EvalOp::f_constant;
        c->value.f = round_to(n.dtype, n.value);
        return c;
      },
      [&](const VarNode& n) -> const EvalCode* {
        const auto it = slots_.find(&n);
        TW_ASSERT(it != slots_.end(), "variable '" + n.name + "' is not bound");
        EvalCode* c = code(e);
        const bool vector = n.dtype.lanes > 1;
        c->op = is_float ? (vector ? EvalOp::f_lane_var : EvalOp::f_var) : (vector ? EvalOp::lane_var : EvalOp::var);
        c->value.i = it->second;
        return c;
      },
      [&](const CastNode& n) { return cast(n); },
      [&](const NotNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->op = EvalOp::not_;
        c->a = compile(n.value);
        c->may_fail = c->a->may_fail;
        return c;
      },
      [&](const BinaryNode& n) { return binary(n); },
      [&](const SelectNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->op = is_float ? EvalOp::f_select : EvalOp::select;
        c->a = compile(n.cond);
        c->b = compile(n.if_true);
        c->c = compile(n.if_false);
        c->may_fail = c->a->may_fail || c->b->may_fail || c->c->may_fail;
        return c;
      },
      [&](const LoadNode& n) { return load(n); },
      [&](const RampNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->op = EvalOp::ramp;
        c->a = compile(n.base);
        c->b = compile(n.stride);
        c->may_fail = c->a->may_fail || c->b->may_fail;
        return wrapped(c, n.dtype);
      },
      [&](const BroadcastNode& n) { return compile(n.value); },
      [&](const CallNode& n) -> const EvalCode* {
        EvalCode* c = code(e);
        c->function = n.function;
        c->a = compile(n.args[0]);
        if (n.args.size() > 1) c->b = compile(n.args[1]);
        c->may_fail = c->a->may_fail || (c->b && c->b->may_fail);
        if (n.function == Intrinsic::float_bits || n.function == Intrinsic::bits_float) {
          c->op = n.function == Intrinsic::float_bits ? EvalOp::f_bits : EvalOp::from_bits;
          c->type = n.dtype.element();
          return c;
        }
        c->op = n.function == Intrinsic::isnan ? EvalOp::f_is_nan : n.function == Intrinsic::isinf ? EvalOp::f_is_inf : is_float ? EvalOp::f_call : EvalOp::abs;
        return c->op == EvalOp::abs ? wrapped(c, n.dtype) : c;
      });
}

}  // namespace tw::ir
