// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/support.h"

#include <algorithm>

#include "engine/graph/limits.h"

namespace tw::graph::ops {

Error bad(const OpContext& c, const std::string& message) { return Error(ErrorCode::invalid_argument, fmt::format("Operator '{}': {}", c.node->op, message)); }

bool has_operand(const OpContext& c, size_t i) { return i < c.inputs.size() && c.inputs[i].has_value(); }

const TensorType& operand(const OpContext& c, size_t i) {
  TW_ASSERT(has_operand(c, i), "operand was not checked");
  return *c.inputs[i];
}

Expected<void> check_operands(const OpContext& c, size_t min, size_t max) {
  if (c.inputs.size() < min || c.inputs.size() > max)
    return bad(c, min == max ? fmt::format("expected {} operands, found {}", min, c.inputs.size())
                             : fmt::format("expected {} to {} operands, found {}", min, max, c.inputs.size()));
  for (size_t i = 0; i < min; ++i)
    if (!c.inputs[i]) return bad(c, fmt::format("expected operand {}, found none", i));
  return {};
}

Expected<void> check_same_dtype(const OpContext& c, size_t i, size_t j) {
  const DType a = operand(c, i).dtype, b = operand(c, j).dtype;
  if (a == b) return {};
  return bad(c, fmt::format("expected equal element types of operands {} and {}, found {} and {}", i, j, a.name(), b.name()));
}

Expected<void> check_rank(const OpContext& c, size_t i, int64_t rank) {
  const auto& shape = operand(c, i).shape;
  if (static_cast<int64_t>(shape.size()) == rank) return {};
  return bad(c, fmt::format("expected operand {} of rank {}, found shape {}", i, rank, shape_text(shape)));
}

namespace {

bool admits(Domain d, DType t) {
  switch (d) {
    case Domain::any:
      return true;
    case Domain::numeric:
      return !t.is_bool();
    case Domain::signed_:
      return t.is_float() || t.is_signed();
    case Domain::floating:
      return t.is_float();
    case Domain::integer:
      return t.is_int();
    case Domain::boolean:
      return t.is_bool();
  }
  return false;
}

}  // namespace

Expected<void> check_domain(const OpContext& c, size_t i, Domain domain) {
  static constexpr const char* kText[] = {"any", "a numeric", "a signed", "a floating-point", "an integer", "a boolean"};
  const DType t = operand(c, i).dtype;
  if (admits(domain, t)) return {};
  return bad(c, fmt::format("expected {} operand, found {}", kText[static_cast<int>(domain)], t.name()));
}

Expected<void> check_float(const OpContext& c, size_t i) {
  if (operand(c, i).dtype.is_float()) return {};
  return bad(c, fmt::format("expected a floating-point operand {}, found {}", i, operand(c, i).dtype.name()));
}

Types result(const OpContext& c, DType dtype, Dims shape) {
  if (shape.size() > 16) return bad(c, fmt::format("expected at most 16 dimensions in the result, found {}", shape.size()));
  for (const int64_t d : shape)
    if (d < 0) return bad(c, fmt::format("expected no extent of the result below 0, found shape {}", shape_text(shape)));
  if (!within_limits(shape)) return bad(c, fmt::format("expected at most 2^40 elements in the result, found shape {}", shape_text(shape)));
  return std::vector<TensorType>{{dtype, std::move(shape)}};
}

Expected<int64_t> resolve_axis(const OpContext& c, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return bad(c, fmt::format("expected an axis in [{}, {}], found {}", -rank, rank - 1, axis));
  return axis < 0 ? axis + rank : axis;
}

Expected<Dims> resolve_axes(const OpContext& c, const Dims& axes, int64_t rank) {
  Dims out;
  for (const int64_t a : axes) {
    TW_TRY(const int64_t axis, resolve_axis(c, a, rank));
    if (std::find(out.begin(), out.end(), axis) != out.end()) return bad(c, fmt::format("expected every axis once, found {} twice", axis));
    out.push_back(axis);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Expected<void> check_element_indices(const OpContext& c) {
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  const auto rank = static_cast<int64_t>(x.shape.size());
  TW_CHECK(check_rank(c, 1, rank));
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), rank));
  for (size_t d = 0; d < x.shape.size(); ++d)
    if (static_cast<int64_t>(d) != axis && indices.shape[d] > x.shape[d])
      return bad(c,
                 fmt::format("expected indices no larger than the data in dimension {}, found {} and {}", d, shape_text(indices.shape), shape_text(x.shape)));
  return {};
}

Expected<Dims> integers_attr(const OpContext& c, const std::string& name, size_t n, int64_t fallback, int64_t min) {
  Dims v = c.node->attrs.integers(name, Dims(n, fallback));
  if (v.size() != n) return bad(c, fmt::format("expected {} integers in '{}', found {}", n, name, v.size()));
  for (const int64_t x : v)
    if (x < min || x > (int64_t{1} << 31)) return bad(c, fmt::format("expected values from {} to 2^31 in '{}', found {}", min, name, x));
  return v;
}

Expected<Dims> broadcast_shapes(const OpContext& c, const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1) return bad(c, fmt::format("expected shapes that broadcast, found {} and {}", shape_text(a), shape_text(b)));
    out[d] = x == 1 ? y : x;
  }
  return out;
}

Expected<void> check_broadcasts_to(const OpContext& c, size_t i, const Dims& shape) {
  TW_TRY(const Dims common, broadcast_shapes(c, shape, operand(c, i).shape));
  if (common != shape)
    return bad(c, fmt::format("expected operand {} to broadcast to {}, found shape {}", i, shape_text(shape), shape_text(operand(c, i).shape)));
  return {};
}

Expr read_broadcast(const te::Tensor& t, const Indices& i) {
  const size_t rank = t.shape().size();
  Indices at;
  for (size_t d = 0; d < rank; ++d) at.push_back(t.shape()[d] == 1 ? ir::index(0) : i[i.size() - rank + d]);
  return t.at(std::move(at));
}

int64_t product(const Dims& d, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t k = from; k < std::min(to, d.size()); ++k) n *= d[k];
  return n;
}

Expr safe_div(const Expr& a, const Expr& b) {
  const Expr zero = ir::zero(a->dtype);
  const Expr quotient = a / ir::select(ir::equal(b, zero), number(a, 1), b);
  const Expr checked = ir::select(ir::equal(b, zero), zero, quotient);
  if (!a->dtype.is_signed()) return checked;
  return ir::select(ir::equal(b, number(a, -1)), zero - a, checked);  // the lowest value divided by -1 traps on some processors
}

Expr safe_trunc_mod(const Expr& a, const Expr& b) { return a - safe_div(a, b) * b; }

Expr wrapped_index(const Expr& i, int64_t extent) {
  const Expr wide = ir::cast(ir::kIndex, i);
  const Expr wrapped = ir::select(wide < ir::index(0), wide + extent, wide);
  return ir::min(ir::max(wrapped, ir::index(0)), ir::index(extent - 1));
}

}  // namespace tw::graph::ops
