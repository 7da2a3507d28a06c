// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>

#include "engine/base/text.h"
#include "engine/codegen/llvm/arith.h"
#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/llvm/intrinsics.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using ir::BinaryOp;
using ir::Expr;
using llvm::Value;

Value* FuncEmitter::index(const Expr& e) {
  const bool saved = in_index_;
  in_index_ = true;
  Value* v = expr(e);
  in_index_ = saved;
  return v;
}

Value* FuncEmitter::expr(const Expr& e) {
  if (const auto it = memo_.find(e.get()); it != memo_.end()) return it->second.value;
  Value* v = fresh_expr(e);
  if (e->dtype.lanes > 1) saw_vector_ = true;
  if (v == nullptr) {
    s_.fail(ErrorCode::unsupported, "Expected an operation that code generation knows, found one of type " + e->dtype.name(),
            "function " + function_->getName().str());
    v = llvm::PoisonValue::get(value_type(s_.context(), e->dtype));
  }
  memo_.insert_or_assign(e.get(), Computed{e, v});
  return v;
}

Value* FuncEmitter::fresh_expr(const Expr& e) {
  llvm::LLVMContext& c = s_.context();
  return ir::match(
      e, [&](const ir::IntImmNode& n) -> Value* { return int_constant(value_type(c, n.dtype), n.value); },
      [&](const ir::FloatImmNode& n) -> Value* { return float_constant(c, n.dtype, n.value); },
      [&](const ir::VarNode& n) -> Value* {
        const auto it = vars_.find(&n);
        if (it != vars_.end()) return it->second;
        s_.fail(ErrorCode::internal, fmt::format("Expected a variable in scope, found '{}'", n.name), "function " + function_->getName().str());
        return llvm::PoisonValue::get(value_type(c, n.dtype));
      },
      [&](const ir::CastNode& n) -> Value* { return emit_cast(b_, n.value->dtype, n.dtype, expr(n.value)); },
      [&](const ir::NotNode& n) -> Value* { return b_.CreateNot(expr(n.value)); }, [&](const ir::BinaryNode& n) { return binary(n); },
      [&](const ir::SelectNode& n) { return select(n); }, [&](const ir::LoadNode& n) { return load(n); }, [&](const ir::RampNode& n) { return ramp(n); },
      [&](const ir::BroadcastNode& n) -> Value* { return b_.CreateVectorSplat(n.dtype.lanes, expr(n.value)); }, [&](const ir::CallNode& n) { return call(n); });
}

Value* FuncEmitter::binary(const ir::BinaryNode& n) {
  if (n.op == BinaryOp::and_ || n.op == BinaryOp::or_) return logical(n);
  if (Value* dot = byte_dot(n)) return dot;
  if (Value* divided = divided_ramp(n)) return divided;
  Value* x = expr(n.a);
  Value* y = expr(n.b);
  ArithFacts facts{.index = in_index_ && n.a->dtype.element() == ir::kIndex};
  if (n.op == BinaryOp::floor_div || n.op == BinaryOp::floor_mod) {
    const auto range = interval_of(n.a, ranges_);
    facts.non_negative = range && range->lo >= 0;
  }
  return emit_binary(b_, n.op, n.a->dtype, x, y, facts);
}

/// Consecutive numbers that a constant divides and that pass at most one multiple of it: one division, of the first, and who is behind the multiple. Null for others.
Value* FuncEmitter::divided_ramp(const ir::BinaryNode& n) {
  if (n.op != BinaryOp::floor_div && n.op != BinaryOp::floor_mod) return nullptr;
  const auto* numbers = ir::as<ir::RampNode>(n.a);
  const auto* by = ir::as<ir::BroadcastNode>(n.b);
  if (numbers == nullptr || by == nullptr || n.dtype.element() != ir::kIndex) return nullptr;
  const auto step = ir::as_int(numbers->stride), divisor = ir::as_int(by->value);
  if (!step || !divisor || *step < 1 || std::has_single_bit(static_cast<uint64_t>(*divisor)) || *divisor / n.dtype.lanes < *step) return nullptr;
  llvm::Type* type = value_type(s_.context(), n.dtype);
  llvm::Constant* size = int_constant(type, *divisor);
  Value* steps = b_.CreateMul(b_.CreateStepVector(type), int_constant(type, *step));
  Value* rest = b_.CreateAdd(b_.CreateVectorSplat(n.dtype.lanes, expr(ir::floor_mod(numbers->base, by->value))), steps);
  Value* behind = b_.CreateICmpSGE(rest, size);
  if (n.op == BinaryOp::floor_mod) return b_.CreateSelect(behind, b_.CreateSub(rest, size), rest);
  return b_.CreateAdd(b_.CreateVectorSplat(n.dtype.lanes, expr(ir::floor_div(numbers->base, by->value))), b_.CreateZExt(behind, type));
}

/// `and` and `or` skip the right side where it could read out of bounds and the left side decides.
Value* FuncEmitter::logical(const ir::BinaryNode& n) {
  Value* x = expr(n.a);
  if (!may_fault(n.b)) return emit_binary(b_, n.op, n.dtype, x, expr(n.b), {});
  if (n.dtype.lanes == 1) return n.op == BinaryOp::and_ ? branch(x, n.b, ir::bool_imm(false)) : branch(x, ir::bool_imm(true), n.b);
  Value* y = under_mask(n.op == BinaryOp::and_ ? x : b_.CreateNot(x), n.b);
  return emit_binary(b_, n.op, n.dtype, x, y, {});
}

/// Loads are the only expressions that can fault: divisions are made safe.
bool FuncEmitter::may_fault(const Expr& e) const {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* l = ir::as<ir::LoadNode>(x);
    if (l == nullptr || found) return;
    const auto range = interval_of(flat_index(l->buffer, l->indices), ranges_);
    found = !range || range->lo < 0 || range->hi >= l->buffer->num_elements();
  });
  return found;
}

namespace {

/// Whether lanes of a vector are read each where memory says.
bool looks_elsewhere(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* l = ir::as<ir::LoadNode>(x);
    found = found || (l && std::any_of(l->indices.begin(), l->indices.end(), [](const Expr& i) { return i->dtype.lanes > 1 && tir::reads_memory(i) && !as_ramp(i); }));
  });
  return found;
}

}  // namespace

Value* FuncEmitter::select(const ir::SelectNode& n) {
  if (const auto known = decided(n.cond, ranges_)) return expr(*known ? n.if_true : n.if_false);
  Value* cond = expr(n.cond);
  const bool faults = may_fault(n.if_true) || may_fault(n.if_false);
  if (faults && n.cond->dtype.lanes == 1) return branch(cond, n.if_true, n.if_false);
  // Lanes that a table lets look elsewhere cost an access each: not where none of them does, as where updates are few.
  const bool few = n.cond->dtype.lanes > 1 && tir::reads_memory(n.cond);
  const auto side = [&](Value* lanes, const Expr& e) {
    const auto value = [&] { return faults ? under_mask(lanes, e) : expr(e); };
    return few && looks_elsewhere(e) ? branch(b_.CreateOrReduce(lanes), value, [&] { return llvm::Constant::getNullValue(value_type(s_.context(), e->dtype)); }) : value();
  };
  Value* t = side(cond, n.if_true);
  Value* f = side(few || faults ? b_.CreateNot(cond) : nullptr, n.if_false);
  return b_.CreateSelect(cond, t, f);
}

Value* FuncEmitter::branch(Value* cond, const Expr& if_true, const Expr& if_false) {
  return branch(cond, [&] { return expr(if_true); }, [&] { return expr(if_false); });
}

Value* FuncEmitter::branch(Value* cond, const std::function<Value*()>& if_true, const std::function<Value*()>& if_false) {
  auto* t = llvm::BasicBlock::Create(s_.context(), "", function_);
  auto* f = llvm::BasicBlock::Create(s_.context(), "", function_);
  auto* join = llvm::BasicBlock::Create(s_.context(), "", function_);
  b_.CreateCondBr(cond, t, f);
  const auto arm = [&](llvm::BasicBlock* block, const std::function<Value*()>& value) {
    const auto saved = memo_;
    b_.SetInsertPoint(block);
    Value* v = value();
    b_.CreateBr(join);
    memo_ = saved;  // values of one arm do not reach the other
    return std::pair(v, b_.GetInsertBlock());
  };
  const auto [tv, tb] = arm(t, if_true);
  const auto [fv, fb] = arm(f, if_false);
  b_.SetInsertPoint(join);
  llvm::PHINode* phi = b_.CreatePHI(tv->getType(), 2);
  phi->addIncoming(tv, tb);
  phi->addIncoming(fv, fb);
  return phi;
}

/// e, where only the lanes of `mask` (and of the mask around it) may touch memory; the other lanes hold anything.
Value* FuncEmitter::under_mask(Value* mask, const Expr& e) {
  const auto saved_memo = memo_;
  Value* saved = mask_;
  mask_ = saved == nullptr ? mask : b_.CreateAnd(saved, mask);
  Value* v = expr(e);
  mask_ = saved;
  memo_ = saved_memo;
  return v;
}

Value* FuncEmitter::ramp(const ir::RampNode& n) {
  const int lanes = n.dtype.lanes;
  llvm::Type* type = value_type(s_.context(), n.dtype);
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < lanes; ++i) {
    llvm::Type* element = value_type(s_.context(), n.base->dtype);
    steps.push_back(n.dtype.is_float() ? llvm::ConstantFP::get(element, i) : int_constant(element, i));
  }
  Value* base = b_.CreateVectorSplat(lanes, expr(n.base));
  Value* stride = b_.CreateVectorSplat(lanes, expr(n.stride));
  Value* count = llvm::ConstantVector::get(steps);
  if (n.dtype.is_float()) return b_.CreateFAdd(base, b_.CreateFMul(stride, count));
  TW_ASSERT(type == base->getType(), "ramp type");
  return b_.CreateAdd(base, b_.CreateMul(stride, count, "", false, in_index_), "", false, in_index_);
}

Value* FuncEmitter::call(const ir::CallNode& n) {
  std::vector<Value*> args;
  for (const Expr& a : n.args) args.push_back(expr(a));
  return emit_intrinsic(s_, b_, n.function, n.args[0]->dtype, args);
}

}  // namespace tw::codegen
