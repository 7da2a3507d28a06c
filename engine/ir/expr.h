// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/ir/expr_kinds.h"
#include "engine/ir/node.h"

/// Scalar and vector expressions, shared by te and tir. Immutable; every maker checks types.
/// Semantics: integers wrap in their width except index arithmetic (int64 indices never overflow by construction);
/// floor_div and floor_mod round towards minus infinity; `div` on integers truncates; float arithmetic is IEEE and may be contracted into fma.
namespace tw::ir {

enum class ExprKind : uint8_t {
#define X(type, name) name,
  TW_EXPR_KINDS(X)
#undef X
};

class ExprNode : public Node {
 public:
  const DType dtype;
  ExprKind kind() const { return static_cast<ExprKind>(tag()); }

 protected:
  ExprNode(ExprKind k, DType t) : Node(static_cast<uint8_t>(k)), dtype(t) {}
};
using Expr = Ref<ExprNode>;

/// Deletes a node as the type that its kind names.
void destroy(const ExprNode* node);

/// Index arithmetic is in this type.
inline constexpr DType kIndex = kInt64;

enum class BinaryOp : uint8_t { add, sub, mul, div, floor_div, floor_mod, min, max, eq, ne, lt, le, and_, or_, bit_and, bit_or, bit_xor, shl, shr };
/// Text form: `+`, `//`, `min`, ...
const char* binary_op_name(BinaryOp op);
inline bool is_comparison(BinaryOp op) { return op >= BinaryOp::eq && op <= BinaryOp::le; }

/// Mathematical functions; all take and give floats of one type unless said otherwise.
enum class Intrinsic : uint8_t {
  exp, log, sqrt, rsqrt, tanh, sigmoid, erf, pow, fabs /* ints too */, floor, ceil, round /* half to even */, trunc,
  sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, fmod, isnan /* -> bool */, isinf /* -> bool */,
  float_bits /* float32 -> uint32, float64 -> uint64: the same bits */, bits_float /* back */,
};
const char* intrinsic_name(Intrinsic f);
std::optional<Intrinsic> intrinsic_from_name(std::string_view name);

/// Where an array lives.
enum class Scope : uint8_t {
  param,   ///< an argument of the function
  local,   ///< private to one thread, small: registers or stack
  global,  ///< workspace from the runtime's allocator
  shared,  ///< GPU thread block
};
const char* scope_name(Scope s);

/// An array: an identity with element type and logical shape. The name is a print hint.
class BufferNode : public Node {
 public:
  BufferNode(std::string n, DType t, std::vector<int64_t> s, Scope sc) : Node(0), name(std::move(n)), dtype(t), shape(std::move(s)), scope(sc) {}
  const std::string name;
  const DType dtype;
  const std::vector<int64_t> shape;  ///< elements per dimension; empty for a scalar
  const Scope scope;
  int64_t num_elements() const {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }
  int64_t bytes() const { return num_elements() * dtype.bytes(); }
};
using Buffer = Ref<BufferNode>;
void destroy(const BufferNode* node);
Buffer make_buffer(std::string name, DType dtype, std::vector<int64_t> shape, Scope scope = Scope::param);

class IntImmNode final : public ExprNode {  ///< also booleans; value in the type's range
 public:
  IntImmNode(DType t, int64_t v) : ExprNode(ExprKind::int_imm, t), value(v) {}
  const int64_t value;
};
class FloatImmNode final : public ExprNode {
 public:
  FloatImmNode(DType t, double v) : ExprNode(ExprKind::float_imm, t), value(v) {}
  const double value;
};
class VarNode final : public ExprNode {  ///< identity; the name is a print hint
 public:
  VarNode(DType t, std::string n) : ExprNode(ExprKind::var, t), name(std::move(n)) {}
  const std::string name;
};
class CastNode final : public ExprNode {  ///< float to int truncates; to bool is `!= 0`
 public:
  CastNode(DType t, Expr v) : ExprNode(ExprKind::cast, t), value(std::move(v)) {}
  const Expr value;
};
class NotNode final : public ExprNode {
 public:
  explicit NotNode(Expr v) : ExprNode(ExprKind::not_, v->dtype), value(std::move(v)) {}
  const Expr value;
};
class BinaryNode final : public ExprNode {
 public:
  BinaryNode(BinaryOp o, DType t, Expr l, Expr r) : ExprNode(ExprKind::binary, t), op(o), a(std::move(l)), b(std::move(r)) {}
  const BinaryOp op;
  const Expr a, b;
};
class SelectNode final : public ExprNode {  ///< lazy for scalar conditions: the branch not taken is not evaluated
 public:
  SelectNode(Expr c, Expr t, Expr f) : ExprNode(ExprKind::select, t->dtype), cond(std::move(c)), if_true(std::move(t)), if_false(std::move(f)) {}
  const Expr cond, if_true, if_false;
};
class LoadNode final : public ExprNode {
 public:
  LoadNode(DType t, Buffer b, std::vector<Expr> i) : ExprNode(ExprKind::load, t), buffer(std::move(b)), indices(std::move(i)) {}
  const Buffer buffer;
  const std::vector<Expr> indices;  ///< one per dimension; after flatten_storage one in elements, and a ramp loads a vector
};
class RampNode final : public ExprNode {  ///< base, base + stride, ...; `lanes` of them
 public:
  RampNode(Expr b, Expr s, int n) : ExprNode(ExprKind::ramp, b->dtype.with_lanes(n)), base(std::move(b)), stride(std::move(s)) {}
  const Expr base, stride;
};
class BroadcastNode final : public ExprNode {
 public:
  BroadcastNode(Expr v, int n) : ExprNode(ExprKind::broadcast, v->dtype.with_lanes(n)), value(std::move(v)) {}
  const Expr value;
};
class CallNode final : public ExprNode {
 public:
  CallNode(DType t, Intrinsic f, std::vector<Expr> a) : ExprNode(ExprKind::call, t), function(f), args(std::move(a)) {}
  const Intrinsic function;
  const std::vector<Expr> args;
};

/// A variable as an identity: the same node compares equal, names do not matter.
using Var = Ref<VarNode>;
void destroy(const VarNode* node);
inline Expr to_expr(const Var& v) { return Expr(v.get()); }
Var make_var(std::string name, DType dtype = kIndex);

/// The node as type T, or null if it is of another kind.
template <class T>
const T* as(const Expr& e);
#define X(type, name)                                                                  \
  template <>                                                                          \
  inline const type* as<type>(const Expr& e) {                                         \
    return e->kind() == ExprKind::name ? static_cast<const type*>(e.get()) : nullptr;  \
  }
TW_EXPR_KINDS(X)
#undef X

// Makers. They check types (TW_ASSERT) and fold constants; they do nothing else.
Expr imm(DType t, int64_t value);
Expr fimm(DType t, double value);
inline Expr index(int64_t value) { return imm(kIndex, value); }
Expr bool_imm(bool value);
Expr zero(DType t);
/// The largest finite (or infinite, for floats) lower bound of a type: the identity of max.
Expr lowest(DType t);
Expr highest(DType t);
/// A number of type t.
Expr constant(DType t, double value);
Expr cast(DType t, Expr value);
Expr binary(BinaryOp op, Expr a, Expr b);
Expr logical_not(Expr a);
Expr select(Expr cond, Expr if_true, Expr if_false);
Expr load(const Buffer& buffer, std::vector<Expr> indices);
Expr ramp(Expr base, Expr stride, int lanes);
Expr broadcast(Expr value, int lanes);
Expr call(Intrinsic f, std::vector<Expr> args);

inline std::optional<int64_t> as_int(const Expr& e) {
  const auto* i = as<IntImmNode>(e);
  return i ? std::optional(i->value) : std::nullopt;
}
inline bool is_int(const Expr& e, int64_t value) { return as_int(e) == value; }

inline Expr operator+(Expr a, Expr b) { return binary(BinaryOp::add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(BinaryOp::sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(BinaryOp::mul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary(BinaryOp::div, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return binary(BinaryOp::lt, std::move(a), std::move(b)); }
inline Expr operator<=(Expr a, Expr b) { return binary(BinaryOp::le, std::move(a), std::move(b)); }
inline Expr operator&&(Expr a, Expr b) { return binary(BinaryOp::and_, std::move(a), std::move(b)); }
inline Expr operator||(Expr a, Expr b) { return binary(BinaryOp::or_, std::move(a), std::move(b)); }
inline Expr equal(Expr a, Expr b) { return binary(BinaryOp::eq, std::move(a), std::move(b)); }
inline Expr floor_div(Expr a, Expr b) { return binary(BinaryOp::floor_div, std::move(a), std::move(b)); }
inline Expr floor_mod(Expr a, Expr b) { return binary(BinaryOp::floor_mod, std::move(a), std::move(b)); }
inline Expr min(Expr a, Expr b) { return binary(BinaryOp::min, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(BinaryOp::max, std::move(a), std::move(b)); }
inline Expr operator+(Expr a, int64_t b) { const DType t = a->dtype; return std::move(a) + imm(t, b); }
inline Expr operator-(Expr a, int64_t b) { const DType t = a->dtype; return std::move(a) - imm(t, b); }
inline Expr operator*(Expr a, int64_t b) { const DType t = a->dtype; return std::move(a) * imm(t, b); }

}  // namespace tw::ir
