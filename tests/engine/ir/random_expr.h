// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/base/rng.h"
#include "engine/ir/expr.h"

namespace tw::ir {

/// Random well-typed scalar expressions over given variables and buffers, for properties of printers, parsers and evaluators.
class RandomExpr {
 public:
  RandomExpr(Rng& rng, std::vector<Var> vars, std::vector<Buffer> buffers) : rng_(rng), vars_(std::move(vars)), buffers_(std::move(buffers)) {}

  Expr make(DType t, int depth) {
    if (depth <= 0) return leaf(t);
    if (t.is_bool()) return boolean(depth);
    switch (rng_.uniform(8)) {
      case 0:
        return leaf(t);
      case 1:
        return select(make(kBool, depth - 1), make(t, depth - 1), make(t, depth - 1));
      case 2:
        return cast(t, make(any_type(), depth - 1));
      case 3:
        return t.is_float() ? intrinsic(t, depth) : bits(t, depth);
      default:
        return binary(
            pick({BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div, BinaryOp::floor_div, BinaryOp::floor_mod, BinaryOp::min, BinaryOp::max}),
            make(t, depth - 1), make(t, depth - 1));
    }
  }

  DType any_type() {
    static constexpr DType kTypes[] = {kBool, kInt8, kInt32, kInt64, kUInt8, kUInt32, kUInt64, kFloat16, kFloat32, kFloat64, kBFloat16};
    return kTypes[rng_.uniform(std::size(kTypes))];
  }

 private:
  BinaryOp pick(std::initializer_list<BinaryOp> ops) { return ops.begin()[rng_.uniform(ops.size())]; }

  Expr boolean(int depth) {
    switch (rng_.uniform(4)) {
      case 0:
        return logical_not(make(kBool, depth - 1));
      case 1:
        return binary(pick({BinaryOp::and_, BinaryOp::or_}), make(kBool, depth - 1), make(kBool, depth - 1));
      default: {
        const DType t = any_type();
        return binary(pick({BinaryOp::eq, BinaryOp::ne, BinaryOp::lt, BinaryOp::le}), make(t, depth - 1), make(t, depth - 1));
      }
    }
  }

  Expr intrinsic(DType t, int depth) {
    const auto f = static_cast<Intrinsic>(rng_.uniform(static_cast<uint64_t>(Intrinsic::isnan)));
    if (f == Intrinsic::pow || f == Intrinsic::fmod) return call(f, {make(t, depth - 1), make(t, depth - 1)});
    return call(f, {make(t, depth - 1)});
  }

  Expr bits(DType t, int depth) {
    return binary(pick({BinaryOp::bit_and, BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::shl, BinaryOp::shr}), make(t, depth - 1), make(t, depth - 1));
  }

  Expr leaf(DType t) {
    if (t == kIndex && !vars_.empty() && rng_.uniform(2)) return to_expr(vars_[rng_.uniform(vars_.size())]);
    for (const Buffer& b : buffers_)
      if (b->dtype == t && rng_.uniform(2)) {
        std::vector<Expr> indices;
        for (size_t d = 0; d < b->shape.size(); ++d) indices.push_back(leaf(kIndex));
        return load(b, std::move(indices));
      }
    if (t.is_float()) return fimm(t, static_cast<double>(rng_.range(-8, 8)) / static_cast<double>(rng_.range(1, 7)));
    if (t.is_bool()) return bool_imm(rng_.uniform(2) == 1);
    return imm(t, t.is_signed() ? rng_.range(-9, 9) : rng_.range(0, 200));
  }

  Rng& rng_;
  std::vector<Var> vars_;
  std::vector<Buffer> buffers_;
};

}  // namespace tw::ir
