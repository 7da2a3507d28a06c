// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/expr.h"

#include <array>
#include <cmath>
#include <limits>

#include "engine/base/floor_div.h"

namespace tw::ir {

namespace {

constexpr const char* kBinaryNames[] = {"+", "-", "*", "/", "//", "%", "min", "max", "==", "!=", "<", "<=", "and", "or", "&", "|", "^", "<<", ">>"};
constexpr const char* kIntrinsicNames[] = {"exp",  "log",  "sqrt", "rsqrt", "tanh", "sigmoid", "erf",   "pow",   "fabs",  "floor", "ceil",  "round", "trunc", "sin",
                                           "cos",  "tan",  "asin", "acos",  "atan", "sinh",    "cosh",  "asinh", "acosh", "atanh", "fmod",  "isnan", "isinf",
                                           "float_bits", "bits_float"};

/// Two's complement results where C++ leaves signed overflow undefined.
int64_t wrapping(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return static_cast<int64_t>(op == BinaryOp::add ? x + y : op == BinaryOp::sub ? x - y : x * y);
}

std::optional<int64_t> fold_int(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul: return wrapping(op, a, b);
    case BinaryOp::div: return b == 0 ? std::nullopt : std::optional(b == -1 ? wrapping(BinaryOp::sub, 0, a) : a / b);
    case BinaryOp::floor_div: return b == 0 ? std::nullopt : std::optional(floor_div_int(a, b));
    case BinaryOp::floor_mod: return b == 0 ? std::nullopt : std::optional(floor_mod_int(a, b));
    case BinaryOp::min: return std::min(a, b);
    case BinaryOp::max: return std::max(a, b);
    case BinaryOp::eq: return a == b;
    case BinaryOp::ne: return a != b;
    case BinaryOp::lt: return a < b;
    case BinaryOp::le: return a <= b;
    case BinaryOp::and_: return a != 0 && b != 0;
    case BinaryOp::or_: return a != 0 || b != 0;
    default: return std::nullopt;
  }
}

/// Folding is confined to int64 and booleans, where C++ arithmetic is the semantics.
bool foldable(DType t) { return t == kIndex || t == kBool; }

}  // namespace

const char* binary_op_name(BinaryOp op) { return kBinaryNames[static_cast<int>(op)]; }
const char* intrinsic_name(Intrinsic f) { return kIntrinsicNames[static_cast<int>(f)]; }
std::optional<Intrinsic> intrinsic_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kIntrinsicNames); ++i)
    if (name == kIntrinsicNames[i]) return static_cast<Intrinsic>(i);
  return std::nullopt;
}
const char* scope_name(Scope s) {
  switch (s) {
    case Scope::param: return "param";
    case Scope::local: return "local";
    case Scope::global: return "global";
    case Scope::shared: return "shared";
  }
  return "";
}

void destroy(const ExprNode* node) {
  switch (node->kind()) {
#define X(type, name) \
  case ExprKind::name: delete static_cast<const type*>(node); return;
    TW_EXPR_KINDS(X)
#undef X
  }
}
void destroy(const VarNode* node) { delete node; }
void destroy(const BufferNode* node) { delete node; }

Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape, Scope scope) {
  return Buffer(new BufferNode(std::move(name), dtype, std::move(shape), scope));
}
Var make_var(std::string name, DType dtype) { return Var(new VarNode(dtype, std::move(name))); }

Expr imm(DType t, int64_t value) {
  if (t.lanes > 1) return broadcast(imm(t.element(), value), t.lanes);
  if (t.is_float()) return fimm(t, static_cast<double>(value));
  return Expr(new IntImmNode(t, t.is_bool() ? value != 0 : value));
}
Expr fimm(DType t, double value) {
  if (t.lanes > 1) return broadcast(fimm(t.element(), value), t.lanes);
  TW_ASSERT(t.is_float(), "float constant of type " + t.name());
  return Expr(new FloatImmNode(t, value));
}
Expr bool_imm(bool value) { return imm(kBool, value); }
Expr zero(DType t) { return imm(t, 0); }
Expr constant(DType t, double value) { return t.is_float() ? fimm(t, value) : imm(t, static_cast<int64_t>(value)); }

Expr lowest(DType t) {
  if (t.is_float()) return fimm(t, -std::numeric_limits<double>::infinity());
  if (!t.is_signed()) return imm(t, 0);
  return imm(t, t.bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (t.bits - 1)));
}
Expr highest(DType t) {
  if (t.is_float()) return fimm(t, std::numeric_limits<double>::infinity());
  if (t.is_bool()) return bool_imm(true);
  if (t.is_signed()) return imm(t, t.bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (t.bits - 1)) - 1);
  return imm(t, t.bits == 64 ? -1 : (int64_t{1} << t.bits) - 1);
}

Expr cast(DType t, Expr value) {
  if (value->dtype == t) return value;
  TW_ASSERT(t.lanes == value->dtype.lanes, "cast from " + value->dtype.name() + " to " + t.name());
  if (const auto* i = as<IntImmNode>(value)) {
    if (t.is_float()) return fimm(t, static_cast<double>(i->value));
    if (foldable(t) && (value->dtype == kInt32 || foldable(value->dtype))) return imm(t, i->value);
  }
  return Expr(new CastNode(t, std::move(value)));
}

Expr binary(BinaryOp op, Expr a, Expr b) {
  if (a->dtype.lanes != b->dtype.lanes) {
    if (a->dtype.lanes == 1) a = broadcast(std::move(a), b->dtype.lanes);
    else if (b->dtype.lanes == 1) b = broadcast(std::move(b), a->dtype.lanes);
  }
  TW_ASSERT(a->dtype == b->dtype, std::string("operands of '") + binary_op_name(op) + "' have types " + a->dtype.name() + " and " + b->dtype.name());
  const DType t = is_comparison(op) ? kBool.with_lanes(a->dtype.lanes) : a->dtype;
  if (op == BinaryOp::and_ || op == BinaryOp::or_) TW_ASSERT(t.is_bool(), "logical operands must be bool");
  const auto ia = as_int(a), ib = as_int(b);
  if (ia && ib && foldable(a->dtype))
    if (const auto v = fold_int(op, *ia, *ib)) return imm(t, *v);
  if (foldable(a->dtype)) {
    if (op == BinaryOp::add && ia == 0) return b;
    if ((op == BinaryOp::add || op == BinaryOp::sub) && ib == 0) return a;
    if (op == BinaryOp::mul && (ia == 0 || ib == 1)) return a;
    if (op == BinaryOp::mul && (ib == 0 || ia == 1)) return b;
    if ((op == BinaryOp::floor_div || op == BinaryOp::div) && ib == 1) return a;
    if (op == BinaryOp::floor_mod && ib == 1) return zero(t);
    if (op == BinaryOp::and_ && ia) return *ia ? b : a;
    if (op == BinaryOp::and_ && ib) return *ib ? a : b;
    if (op == BinaryOp::or_ && ia) return *ia ? a : b;
    if (op == BinaryOp::or_ && ib) return *ib ? b : a;
  }
  return Expr(new BinaryNode(op, t, std::move(a), std::move(b)));
}

Expr logical_not(Expr a) {
  TW_ASSERT(a->dtype.is_bool(), "operand of 'not' must be bool");
  if (const auto v = as_int(a)) return bool_imm(!*v);
  return Expr(new NotNode(std::move(a)));
}

Expr select(Expr cond, Expr if_true, Expr if_false) {
  TW_ASSERT(cond->dtype.is_bool(), "condition must be bool");
  TW_ASSERT(if_true->dtype == if_false->dtype, "branches of select have types " + if_true->dtype.name() + " and " + if_false->dtype.name());
  if (const auto v = as_int(cond)) return *v ? if_true : if_false;
  return Expr(new SelectNode(std::move(cond), std::move(if_true), std::move(if_false)));
}

Expr load(const Buffer& buffer, std::vector<Expr> indices) {
  int lanes = 1;
  for (const Expr& i : indices) {
    TW_ASSERT(i->dtype.element() == kIndex, "index of type " + i->dtype.name());
    lanes = std::max<int>(lanes, i->dtype.lanes);
  }
  return Expr(new LoadNode(buffer->dtype.with_lanes(lanes), buffer, std::move(indices)));
}

Expr ramp(Expr base, Expr stride, int lanes) {
  TW_ASSERT(lanes > 1 && base->dtype.is_scalar() && base->dtype == stride->dtype, "ramp of " + base->dtype.name());
  return Expr(new RampNode(std::move(base), std::move(stride), lanes));
}
Expr broadcast(Expr value, int lanes) {
  TW_ASSERT(value->dtype.is_scalar(), "broadcast of " + value->dtype.name());
  if (lanes == 1) return value;
  return Expr(new BroadcastNode(std::move(value), lanes));
}

Expr call(Intrinsic f, std::vector<Expr> args) {
  TW_ASSERT(args.size() == (f == Intrinsic::pow || f == Intrinsic::fmod ? 2u : 1u), std::string("number of arguments of ") + intrinsic_name(f));
  const bool test = f == Intrinsic::isnan || f == Intrinsic::isinf;
  DType t = test ? kBool.with_lanes(args[0]->dtype.lanes) : args[0]->dtype;
  if (f == Intrinsic::float_bits) t.code = TypeCode::uint;
  if (f == Intrinsic::bits_float) t.code = TypeCode::float_;
  return Expr(new CallNode(t, f, std::move(args)));
}

}  // namespace tw::ir
