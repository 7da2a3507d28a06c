// SPDX-License-Identifier: Apache-2.0
// What a dag's inputs may be; apart from making them, which devices do that know no dags.
#include <algorithm>
#include <cmath>

#include "engine/ir/visit.h"
#include "engine/measure/inputs.h"

namespace tw::measure {

namespace {

constexpr double kSmallestInt = -4, kLargestInt = 3;

/// How loaded integers are used anywhere in a dag.
struct IntegerUses {
  bool divides = false;
  int64_t index_limit = INT64_MAX;  ///< smallest extent that a loaded value indexes
};

bool loads_integer(const ir::Expr& e) {
  bool found = false;
  ir::walk(e, [&](const ir::Expr& x) {
    if (const auto* l = ir::as<ir::LoadNode>(x)) found |= !l->buffer->dtype.is_float();
  });
  return found;
}

bool divides(ir::BinaryOp op) {
  return op == ir::BinaryOp::div || op == ir::BinaryOp::floor_div || op == ir::BinaryOp::floor_mod || op == ir::BinaryOp::shl || op == ir::BinaryOp::shr;
}

void collect(const ir::Expr& body, IntegerUses& uses) {
  ir::walk(body, [&](const ir::Expr& x) {
    if (const auto* l = ir::as<ir::LoadNode>(x)) {
      for (size_t d = 0; d < l->indices.size(); ++d) {
        if (loads_integer(l->indices[d])) uses.index_limit = std::min(uses.index_limit, l->buffer->shape[d]);
      }
    }
    if (const auto* b = ir::as<ir::BinaryNode>(x)) uses.divides |= divides(b->op) && !b->dtype.is_float() && loads_integer(b->b);
  });
}

InputRange integer_range(DType t, const IntegerUses& uses) {
  InputRange range{t.is_signed() ? kSmallestInt : 0, kLargestInt};
  if (uses.divides) range.lo = 1;
  if (uses.index_limit != INT64_MAX) {
    range.lo = uses.divides ? 1 : 0;
    // All of the array: a few rows would stay in cache and show neither the time nor the faults of the others.
    const double largest = std::ldexp(1.0, std::min<int>(t.bits, 32) - (t.is_signed() ? 1 : 0)) - 1;
    range.hi = std::clamp<double>(static_cast<double>(uses.index_limit - 1), range.lo, largest);
  }
  return range;
}

double float_limit(DType t, size_t placeholder, Magnitudes magnitudes) {
  if (magnitudes == Magnitudes::even) return 1;
  const double large = t.bits > 16 ? 256 : 8;
  return placeholder % 2 == 0 ? large : 2 / std::sqrt(large);
}

}  // namespace

std::vector<InputRange> input_ranges(const te::Dag& dag, Magnitudes magnitudes) {
  IntegerUses uses;
  for (const te::Op& op : dag.ops) {
    if (op.body) collect(*op.body, uses);
  }
  std::vector<InputRange> out;
  for (const te::Op& op : dag.ops) {
    if (!op.is_placeholder()) continue;
    const DType t = op.output->dtype;
    const double limit = float_limit(t, out.size(), magnitudes);
    out.push_back(t.is_float() ? InputRange{-limit, limit} : t.is_bool() ? InputRange{0, 1} : integer_range(t, uses));
  }
  return out;
}

std::vector<HostArray> make_inputs(const te::Dag& dag, uint64_t seed, Magnitudes magnitudes) {
  const std::vector<InputRange> ranges = input_ranges(dag, magnitudes);
  std::vector<HostArray> out;
  for (const te::Op& op : dag.ops) {
    if (!op.is_placeholder()) continue;
    const int i = static_cast<int>(out.size());
    HostArray a = HostArray::make(op.output->dtype, op.output->shape);
    fill_random(a.dtype, a.num_elements(), ranges[static_cast<size_t>(i)], input_seed(seed, i), a.data.data());
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace tw::measure
