// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Candidates that are compared with each other at least: whole vectors of them.
constexpr int64_t kLeastBlock = 64;

/// Attributes axis, k, largest; the result holds int64 positions in order.
Types infer_top_k(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  const int64_t k = c.node->attrs.integer("k", 0), extent = x.shape[static_cast<size_t>(axis)];
  if (k < 1 || k > extent) return bad(c, fmt::format("expected from 1 to {} elements, found k = {}", extent, k));
  Dims shape = x.shape;
  shape[static_cast<size_t>(axis)] = k;
  return result(c, kInt64, std::move(shape));
}

/// Candidates along `axis`, in the order of their positions where values are equal.
struct Candidates {
  te::Tensor values;
  std::optional<te::Tensor> positions;  ///< in the operand, int32; none: their own
  size_t axis;
  int64_t count() const { return values.shape()[axis]; }
};

/// Positions of the first `kept` of each block of `block` candidates, block after block. The last block may be shorter, and keeps less then.
class Places {
 public:
  Places(te::DagBuilder& b, const Candidates& x, int64_t block, int64_t kept, bool largest)
      : axis_(x.axis), kept_(kept), count_(x.count()), block_(block), blocks_((count_ + block - 1) / block), places_(find(b, x, largest)) {}

  Dims shape() const {
    Dims shape = places_.shape();
    if (blocks_ > 1) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis_));
    shape[axis_] = (blocks_ - 1) * kept_ + std::min(kept_, count_ - (blocks_ - 1) * block_);
    return shape;
  }
  Expr at(Indices s) const {
    if (blocks_ > 1) {
      const Expr place = s[axis_];
      s[axis_] = ir::floor_mod(place, ir::index(kept_));
      s.insert(s.begin() + static_cast<std::ptrdiff_t>(axis_), ir::floor_div(place, ir::index(kept_)));
    }
    return places_.at(std::move(s));
  }

 private:
  /// Blocks are a dimension of their own where there are several.
  Dims in_blocks(Dims shape, int64_t each) const {
    shape[axis_] = each;
    if (blocks_ > 1) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis_), blocks_);
    return shape;
  }
  Expr first(const Indices& s) const { return blocks_ > 1 ? s[axis_] * block_ : ir::index(0); }
  size_t own() const { return blocks_ > 1 ? axis_ + 1 : axis_; }
  bool ragged() const { return count_ % block_ != 0; }
  Expr only_inside(const Expr& position, const Expr& taken) const { return ragged() ? position < ir::index(count_) && taken : taken; }

  /// An element's rank is the number of those of its block that come before it (ties: the lower position first); place p is where the element of rank p is.
  /// Quadratic in the block, but without any order between elements.
  te::Tensor find(te::DagBuilder& b, const Candidates& x, bool largest) const {
    const Expr one = ir::constant(kInt32, 1), none = ir::constant(kInt32, 0);
    const auto value = [&](const Indices& s, const Expr& position) {
      Indices at = s;
      if (blocks_ > 1) at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis_));
      at[axis_] = position;
      const Expr v = x.values.at(std::move(at));
      return ragged() ? ir::select(position < ir::index(count_), v, ir::zero(v->dtype)) : v;
    };
    const te::Tensor ranks = b.reduce("ranks", in_blocks(x.values.shape(), block_), {block_}, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
      const Expr mine = value(s, first(s) + s[own()]), theirs = value(s, first(s) + r[0]);
      const Expr before = largest ? mine < theirs : theirs < mine;
      return ir::select(only_inside(first(s) + r[0], before || (ir::equal(mine, theirs) && r[0] < s[own()])), one, none);
    });
    return b.reduce("places", in_blocks(x.values.shape(), kept_), {block_}, te::Reducer::max, [&](const Indices& s, const Indices& r) {
      Indices at = s;
      at[own()] = r[0];
      const Expr position = first(s) + r[0];
      return ir::select(only_inside(position, ir::equal(ranks.at(at), ir::cast(kInt32, s[own()]))), ir::cast(kInt32, position), none);
    });
  }

  size_t axis_;
  int64_t kept_, count_, block_, blocks_;
  te::Tensor places_;
};

/// What is at these places of the candidates.
Candidates kept_at(te::DagBuilder& b, const Candidates& x, const Places& places) {
  const auto from = [&](const te::Tensor& t) {
    return [&x, &places, t](const Indices& s) {
      Indices at = s;
      at[x.axis] = ir::cast(ir::kIndex, places.at(s));
      return t.at(std::move(at));
    };
  };
  return {b.compute("kept", places.shape(), from(x.values), "gather"),
          x.positions ? b.compute("positions", places.shape(), from(*x.positions), "gather") : b.compute("positions", places.shape(), [&](const Indices& s) { return places.at(s); }, "injective"),
          x.axis};
}

/// Rounds of a tournament: of each block only its k largest go on, while that leaves at most half; blocks of two to four times k make the fewest comparisons.
Tensors top_k_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", -1), in[0]->rank()));
  const auto axis = static_cast<size_t>(resolved);
  const bool largest = c.node->attrs.integer("largest", 1) != 0;
  const int64_t k = c.node->attrs.integer("k", 0);
  const auto block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(2 * k, kLeastBlock))));
  Candidates x{*in[0], std::nullopt, axis};
  while (x.count() > 2 * block) x = kept_at(b, x, Places(b, x, block, k, largest));
  const Places places(b, x, x.count(), k, largest);
  return std::vector{b.compute("top_k", c.outputs[0].shape, [&](const Indices& s) {
    Indices at = s;
    at[axis] = ir::cast(ir::kIndex, places.at(s));
    return ir::cast(kInt64, x.positions ? x.positions->at(at) : places.at(s));
  })};
}

}  // namespace

std::vector<OpDef> top_k() {
  return {{"top_k_indices", FusionKind::opaque, infer_top_k, top_k_to_te, kExact, "Positions of the k largest (or smallest) elements along axis, in order"}};
}

}  // namespace tw::graph::ops
