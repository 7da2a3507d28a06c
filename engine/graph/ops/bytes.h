// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/graph/ops/support.h"

namespace tw::graph::ops {

/// Products of bytes that processors add up in one step.
constexpr int64_t kBytesTogether = 4;

/// Data of uint8, weight of int8, both of this rank.
inline Expected<void> check_bytes(const OpContext& c, int rank) {
  TW_CHECK(check_operands(c, 2, 2));
  for (const size_t operand : {size_t{0}, size_t{1}}) TW_CHECK(check_rank(c, operand, rank));
  const TensorType &x = operand(c, 0), &w = operand(c, 1);
  if (x.dtype != kUInt8 || w.dtype != kInt8) return bad(c, fmt::format("expected uint8 and int8, found {} and {}", x.dtype.name(), w.dtype.name()));
  if (x.shape[1] != w.shape[1]) return bad(c, fmt::format("expected equal second extents, found {} and {}", x.shape[1], w.shape[1]));
  if (x.shape[1] % kBytesTogether != 0) return bad(c, fmt::format("expected a second extent that {} divides, found {}", kBytesTogether, x.shape[1]));
  return {};
}

/// The `term`th step of a sum: four products in int32 of neighbours along what is summed up.
inline Expr bytes_together(const Expr& term, const std::function<Expr(const Expr&)>& data, const std::function<Expr(const Expr&)>& weight) {
  const auto product = [&](int64_t j) {
    const Expr k = term * kBytesTogether + j;
    return ir::cast(kInt32, data(k)) * ir::cast(kInt32, weight(k));
  };
  Expr sum = product(0);
  for (int64_t j = 1; j < kBytesTogether; ++j) sum = sum + product(j);
  return sum;
}

}  // namespace tw::graph::ops
