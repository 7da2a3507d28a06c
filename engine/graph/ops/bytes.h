// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/graph/ops/support.h"
#include "engine/target/cpu_table.h"

namespace tw::graph::ops {

/// Data of uint8, weight of int8, both of this rank; the weight has the second extent of one group of the data.
inline Expected<void> check_bytes(const OpContext& c, int rank, int64_t groups = 1) {
  TW_CHECK(check_operands(c, 2, 2));
  for (const size_t operand : {size_t{0}, size_t{1}}) TW_CHECK(check_rank(c, operand, rank));
  const TensorType &x = operand(c, 0), &w = operand(c, 1);
  if (x.dtype != kUInt8 || w.dtype != kInt8) return bad(c, fmt::format("expected uint8 and int8, found {} and {}", x.dtype.name(), w.dtype.name()));
  if (groups < 1 || w.shape[0] % groups != 0 || x.shape[1] != w.shape[1] * groups)
    return bad(c, fmt::format("expected data and weight that fit {} groups, found {} and {}", groups, shape_text(x.shape), shape_text(w.shape)));
  if (w.shape[1] % target::kBytesTogether != 0) return bad(c, fmt::format("expected a second extent of the weight that {} divides, found {}", target::kBytesTogether, w.shape[1]));
  return {};
}

/// The `term`th step of a sum: four products in int32 of neighbours along what is summed up.
inline Expr bytes_together(const Expr& term, const std::function<Expr(const Expr&)>& data, const std::function<Expr(const Expr&)>& weight) {
  const auto product = [&](int64_t j) {
    const Expr k = term * target::kBytesTogether + j;
    return ir::cast(kInt32, data(k)) * ir::cast(kInt32, weight(k));
  };
  Expr sum = product(0);
  for (int64_t j = 1; j < target::kBytesTogether; ++j) sum = sum + product(j);
  return sum;
}

}  // namespace tw::graph::ops
