// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/text.h"
#include "engine/graph/op.h"

/// What the operator files share: checks of operands and attributes, broadcasting, and short names.
namespace tw::graph::ops {

using Types = Expected<std::vector<TensorType>>;
using Tensors = Expected<std::vector<te::Tensor>>;
using Operands = std::span<const std::optional<te::Tensor>>;
using Dims = std::vector<int64_t>;
using ir::Expr;
using te::Indices;

/// Relative errors allowed per operation (float32): exact data movement, one rounding each, and library functions.
inline constexpr double kExact = 0.0, kArithmetic = 1e-6, kTranscendental = 1e-5;

/// Invalid argument, prefixed by the operator's name.
Error bad(const OpContext& c, const std::string& message);
/// The number of operands lies in [min, max] and the first `min` are there.
Expected<void> check_operands(const OpContext& c, size_t min, size_t max);
const TensorType& operand(const OpContext& c, size_t i);
bool has_operand(const OpContext& c, size_t i);
/// Both operands have the same element type.
Expected<void> check_same_dtype(const OpContext& c, size_t i, size_t j);
Expected<void> check_rank(const OpContext& c, size_t i, int64_t rank);
/// What element types an operator takes.
enum class Domain { any, numeric, signed_, floating, integer, boolean };
Expected<void> check_domain(const OpContext& c, size_t i, Domain domain);
Expected<void> check_float(const OpContext& c, size_t i);

/// One output type, after checking that no extent is negative, that there are at most 16 and that the element count fits in 2^40.
Types result(const OpContext& c, DType dtype, Dims shape);

/// `axis` counted from the front. Errors: outside [-rank, rank).
Expected<int64_t> resolve_axis(const OpContext& c, int64_t axis, int64_t rank);
/// All of `axes` resolved, ascending. Errors: out of range or twice the same.
Expected<Dims> resolve_axes(const OpContext& c, const Dims& axes, int64_t rank);
/// Attribute `name` with exactly `n` integers, each at least `min`.
Expected<Dims> integers_attr(const OpContext& c, const std::string& name, size_t n, int64_t fallback, int64_t min);

/// Indices (operand 1) of single elements of the data (operand 0) along attribute `axis`: of its rank, and no larger than it in the other dimensions.
Expected<void> check_element_indices(const OpContext& c);

/// The common shape of both under NumPy's rules. Errors: extents that differ and are not 1.
Expected<Dims> broadcast_shapes(const OpContext& c, const Dims& a, const Dims& b);
/// Operand i broadcasts to `shape` without enlarging it.
Expected<void> check_broadcasts_to(const OpContext& c, size_t i, const Dims& shape);
/// Reads `t` at the output position `i` of a broadcast to a shape of equal or higher rank.
Expr read_broadcast(const te::Tensor& t, const Indices& i);
/// The place that differs from `s` along one axis.
inline Indices moved(Indices s, size_t axis, Expr to) {
  s[axis] = std::move(to);
  return s;
}
int64_t product(const Dims& d, size_t from = 0, size_t to = SIZE_MAX);

inline Expr number(const Expr& like, double v) { return ir::constant(like->dtype, v); }
inline Expr call(ir::Intrinsic f, Expr x) { return ir::call(f, {std::move(x)}); }
/// Integer division and remainder (both truncating) that give 0 for a zero divisor instead of trapping.
Expr safe_div(const Expr& a, const Expr& b);
Expr safe_trunc_mod(const Expr& a, const Expr& b);
/// `i` moved into [0, extent): negative indices count from the end, others are clamped, so that no data reads out of bounds.
Expr wrapped_index(const Expr& i, int64_t extent);

}  // namespace tw::graph::ops
