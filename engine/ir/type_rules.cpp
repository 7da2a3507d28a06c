// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/type_rules.h"

#include <unordered_set>

#include "engine/base/text.h"
#include "engine/ir/print.h"
#include "engine/ir/visit.h"

namespace tw::ir {

namespace {

enum class OperandClass { any, number, integer, bits, boolean };

OperandClass operand_class(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::floor_div:
    case BinaryOp::floor_mod:
      return OperandClass::number;
    case BinaryOp::and_:
    case BinaryOp::or_:
      return OperandClass::boolean;
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return OperandClass::bits;
    case BinaryOp::shl:
    case BinaryOp::shr:
      return OperandClass::integer;
    default:
      return OperandClass::any;
  }
}

const char* class_problem(OperandClass c, DType t) {
  switch (c) {
    case OperandClass::any:
      return nullptr;
    case OperandClass::number:
      return t.is_bool() ? "numbers" : nullptr;
    case OperandClass::integer:
      return t.is_int() ? nullptr : "integers";
    case OperandClass::bits:
      return t.is_float() ? "integers or bool" : nullptr;
    case OperandClass::boolean:
      return t.is_bool() ? nullptr : "bool";
  }
  return nullptr;
}

bool lanes_fit(int a, int b) { return a == b || a == 1 || b == 1; }

std::string lanes_problem(int64_t lanes) {
  return lanes >= 2 && lanes <= kMaxLanes ? std::string() : fmt::format("Expected 2 to {} lanes, found {}", kMaxLanes, lanes);
}

}  // namespace

std::string binary_problem(BinaryOp op, DType a, DType b) {
  if (a.element() != b.element() || !lanes_fit(a.lanes, b.lanes))
    return fmt::format("Expected operands of one type for '{}', found {} and {}", binary_op_name(op), a.name(), b.name());
  if (const char* expected = class_problem(operand_class(op), a))
    return fmt::format("Expected {} as operands of '{}', found {}", expected, binary_op_name(op), a.name());
  return {};
}

std::string not_problem(DType a) { return a.is_bool() ? std::string() : fmt::format("Expected bool as operand of 'not', found {}", a.name()); }

std::string select_problem(DType cond, DType if_true, DType if_false) {
  if (!cond.is_bool()) return fmt::format("Expected bool as condition of 'select', found {}", cond.name());
  if (if_true != if_false) return fmt::format("Expected branches of one type for 'select', found {} and {}", if_true.name(), if_false.name());
  if (cond.lanes != 1 && cond.lanes != if_true.lanes)
    return fmt::format("Expected a condition of 1 or {} lanes for 'select', found {}", if_true.lanes, cond.lanes);
  return {};
}

std::string cast_problem(DType to, DType from) {
  return to.lanes == from.lanes ? std::string()
                                : fmt::format("Expected a cast that keeps {} lanes, found one from {} to {}", from.lanes, from.name(), to.name());
}

std::string ramp_problem(DType base, DType stride, int64_t lanes) {
  if (!base.is_scalar() || !base.is_int() || base != stride)
    return fmt::format("Expected scalar integers of one type as base and stride of 'ramp', found {} and {}", base.name(), stride.name());
  return lanes_problem(lanes);
}

std::string broadcast_problem(DType value, int64_t lanes) {
  if (!value.is_scalar()) return fmt::format("Expected a scalar to broadcast, found {}", value.name());
  return lanes_problem(lanes);
}

std::string call_problem(Intrinsic f, std::span<const DType> args) {
  const size_t arity = f == Intrinsic::pow || f == Intrinsic::fmod ? 2 : 1;
  if (args.size() != arity) return fmt::format("Expected {} arguments for '{}', found {}", arity, intrinsic_name(f), args.size());
  for (const DType& t : args)
    if (t != args[0]) return fmt::format("Expected arguments of one type for '{}', found {} and {}", intrinsic_name(f), args[0].name(), t.name());
  if (f == Intrinsic::float_bits || f == Intrinsic::bits_float) {
    const TypeCode code = f == Intrinsic::float_bits ? TypeCode::float_ : TypeCode::uint;
    if (args[0].code == code && args[0].bits >= 32) return {};
    return fmt::format("Expected {} as argument of '{}', found {}", f == Intrinsic::float_bits ? "float32 or float64" : "uint32 or uint64", intrinsic_name(f),
                       args[0].name());
  }
  if (args[0].is_float() || (f == Intrinsic::fabs && args[0].is_int())) return {};
  return fmt::format("Expected a float as argument of '{}', found {}", intrinsic_name(f), args[0].name());
}

std::string load_problem(const BufferNode& buffer, std::span<const DType> indices) {
  if (indices.size() != buffer.shape.size() && indices.size() != 1)
    return fmt::format("Expected {} indices for '{}' of shape {}, found {}", buffer.shape.size(), buffer.name, shape_text(buffer.shape), indices.size());
  int lanes = 1;
  for (const DType& t : indices) {
    if (t.element() != kIndex) return fmt::format("Expected an int64 index for '{}', found {}", buffer.name, t.name());
    if (!lanes_fit(lanes, t.lanes)) return fmt::format("Expected indices of equal lanes for '{}', found {} and {}", buffer.name, lanes, t.lanes);
    lanes = std::max<int>(lanes, t.lanes);
  }
  return {};
}

bool int_in_range(DType t, int64_t value) {
  if (t.is_bool()) return value == 0 || value == 1;
  if (t.bits == 64) return true;
  const int64_t span = int64_t{1} << (t.is_signed() ? t.bits - 1 : t.bits);
  return value < span && value >= (t.is_signed() ? -span : 0);
}

namespace {

std::vector<DType> types_of(const std::vector<Expr>& exprs) {
  std::vector<DType> out;
  for (const Expr& e : exprs) out.push_back(e->dtype);
  return out;
}

std::string node_problem(const Expr& e) {
  return match(
      e,
      [](const IntImmNode& n) {
        if (n.dtype.is_float() || !n.dtype.is_scalar()) return "Expected a scalar integer constant, found type " + n.dtype.name();
        return int_in_range(n.dtype, n.value) ? std::string() : fmt::format("Expected a constant in the range of {}, found {}", n.dtype.name(), n.value);
      },
      [](const FloatImmNode& n) {
        return n.dtype.is_float() && n.dtype.is_scalar() ? std::string() : "Expected a scalar float constant, found type " + n.dtype.name();
      },
      [](const VarNode&) { return std::string(); }, [](const CastNode& n) { return cast_problem(n.dtype, n.value->dtype); },
      [](const NotNode& n) { return not_problem(n.value->dtype); },
      [](const BinaryNode& n) {
        if (n.a->dtype != n.b->dtype)
          return fmt::format("Expected equal lanes for '{}', found {} and {}", binary_op_name(n.op), n.a->dtype.name(), n.b->dtype.name());
        return binary_problem(n.op, n.a->dtype, n.b->dtype);
      },
      [](const SelectNode& n) { return select_problem(n.cond->dtype, n.if_true->dtype, n.if_false->dtype); },
      [](const LoadNode& n) { return load_problem(*n.buffer, types_of(n.indices)); },
      [](const RampNode& n) { return ramp_problem(n.base->dtype, n.stride->dtype, n.dtype.lanes); },
      [](const BroadcastNode& n) { return broadcast_problem(n.value->dtype, n.dtype.lanes); },
      [](const CallNode& n) { return call_problem(n.function, types_of(n.args)); });
}

Expected<void> check_node(const Expr& e, std::unordered_set<const ExprNode*>& seen) {
  if (!seen.insert(e.get()).second) return {};
  if (std::string problem = node_problem(e); !problem.empty()) return Error(ErrorCode::internal, std::move(problem), "expression '" + print(e) + "'");
  std::optional<Error> error;
  for_each_child(e, [&](const Expr& c) {
    if (error) return;
    if (auto r = check_node(c, seen); !r) error = r.error();
  });
  if (error) return *error;
  return {};
}

}  // namespace

Expected<void> check_types(const Expr& e) {
  std::unordered_set<const ExprNode*> seen;
  return check_node(e, seen);
}

}  // namespace tw::ir
