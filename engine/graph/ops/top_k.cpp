// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Elements of which one goes on: few, since all of the k best ones' come back.
constexpr int64_t kGroup = 4;
/// As many are compared with each other, all with all; fewer groups than vectors would be no gain.
constexpr int64_t kLeastGroups = 64;
/// So many elements for each that is wanted, and more, are gone through for one after the other, as long as few are wanted: each costs two stages. On a Xeon
/// with AVX-512 four are half as slow again as comparing all with all, and eight a third faster; with shorter vectors four are faster already.
constexpr int64_t kPicked = 6;
constexpr int64_t kMostPicked = 16;
/// So many are picked by keys of a value and its position, which each take one stage, from fewer elements for each: measured on a Zen 5 with AVX-512 and AVX2.
constexpr int64_t kLeastKeyed = 4, kMostKeyed = 32, kKeyed = 3;
/// Fewer elements are compared all with all, where they may be sorted.
constexpr int64_t kLeastSorted = 256;
/// What is sorted has so many positions at most: an int64 has room for one beside 33 bits of a value, and for one more bit.
constexpr int64_t kMostPositions = int64_t{1} << 24;

/// Attributes axis, k, largest; the result holds int64 positions in order. `sorted`: 1 where many elements may be sorted in stages, which is far less work, but
/// one stage after the other.
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

/// Positions (int32) of the k first elements along an axis in descending or ascending order, equal ones in the order of their positions.
struct Order {
  te::DagBuilder& b;
  size_t axis;
  int64_t k;
  bool largest, sorts;

  Dims with(Dims shape, int64_t extent) const {
    shape[axis] = extent;
    return shape;
  }
  static Expr whole(int64_t n) { return ir::constant(kInt64, static_cast<double>(n)); }

  /// The k largest elements are in the k groups whose largest elements are the largest, since each of these holds one that comes before all of any other group.
  te::Tensor of(const te::Tensor& x) const {
    const int64_t count = x.shape()[axis];
    if (count <= kGroup * std::max(2 * k, kLeastGroups) || (sorts && k == 1)) return in_order(x, std::nullopt, count);
    const te::Reducer best = largest ? te::Reducer::max : te::Reducer::min;
    const auto read = [&](const Indices& s, const Expr& position) {
      const Expr value = x.at(moved(s, axis, position));
      return count % kGroup == 0 ? value : ir::select(position < ir::index(count), value, te::reducer_identity(best, x.dtype()));
    };
    const te::Tensor groups = of(b.reduce("best", with(x.shape(), (count + kGroup - 1) / kGroup), {kGroup}, best,
                                          [&](const Indices& s, const Indices& r) { return read(s, s[axis] * kGroup + r[0]); }));
    const Dims kept = with(x.shape(), k * kGroup);
    const te::Tensor positions = b.compute("positions", kept, [&](const Indices& s) {
      const Expr group = groups.at(moved(s, axis, ir::floor_div(s[axis], ir::index(kGroup))));
      return group * ir::constant(kInt32, kGroup) + ir::cast(kInt32, ir::floor_mod(s[axis], ir::index(kGroup)));
    });
    return in_order(b.compute(
                        "kept", kept, [&](const Indices& s) { return read(s, ir::cast(ir::kIndex, positions.at(s))); }, "gather"),
                    positions, count);
  }

  /// All of x in order; `positions` of its elements if they are not their places, all of them below `bound`.
  te::Tensor in_order(const te::Tensor& x, const std::optional<te::Tensor>& positions, int64_t bound) const {
    const bool keyed = x.dtype().bits <= 32 && bound <= kMostPositions;
    if (sorts && keyed && k >= kLeastKeyed && k <= kMostKeyed && x.shape()[axis] >= kKeyed * k) return picked_by_keys(x, positions, bound);
    if (sorts && k <= kMostPicked && x.shape()[axis] >= kPicked * k) return picked(x, positions);
    return sorts && keyed && x.shape()[axis] >= kLeastSorted ? sorted(x, positions, bound) : ranked(x, positions);
  }

  /// Bitonic sorting of keys, of a value and its position each, on lines of their own; of runs as long as what is wanted the first go on. Source: Batcher,
  /// Sorting networks and their applications, AFIPS 1968.
  te::Tensor sorted(const te::Tensor& x, const std::optional<te::Tensor>& positions, int64_t bound) const {
    const int64_t count = x.shape()[axis], all = std::bit_ceil(static_cast<uint64_t>(count)), after = std::bit_ceil(static_cast<uint64_t>(bound));
    Dims lines = x.shape();
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(axis));
    lines.push_back(all);
    const auto at_line = [&](const Indices& s) {
      Indices to(s.begin(), s.end() - 1);
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), s.back());
      return to;
    };
    te::Tensor keys = b.compute("keys", lines, [&](const Indices& s) {
      const Indices at = at_line(s);
      const Expr key = key_of(x, positions, at, after);
      return count == all ? key : ir::select(s.back() < ir::index(count), key, whole(after << 33));
    });
    const auto ordered_by = [&](int64_t run) {  // every other run of a line downwards
      for (int64_t apart = run / 2; apart > 0; apart /= 2)
        keys = b.compute(
            "stage", lines,
            [&](const Indices& s) {
              const Expr i = s.back(), lower = ir::floor_div(i, ir::index(2 * apart)) * (2 * apart) + ir::floor_mod(i, ir::index(apart));
              const auto odd = [&](int64_t block) { return ir::floor_mod(ir::floor_div(i, ir::index(block)), ir::index(2)); };
              const Expr one = keys.at(moved(s, s.size() - 1, lower)), other = keys.at(moved(s, s.size() - 1, lower + apart));
              return ir::select(ir::equal(odd(apart), odd(run)), ir::min(one, other), ir::max(one, other));
            },
            "compared");
    };
    const auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
    for (int64_t sorted = 2; sorted <= run; sorted *= 2) ordered_by(sorted);
    // Of two runs, one upwards and one downwards, the less of each pair are the first of both.
    for (lines.back() /= 2; lines.back() >= run; lines.back() /= 2) {
      keys = b.compute(
          "first", lines,
          [&](const Indices& s) {
            const Expr from = ir::floor_div(s.back(), ir::index(run)) * (2 * run) + ir::floor_mod(s.back(), ir::index(run));
            return ir::min(keys.at(moved(s, s.size() - 1, from)), keys.at(moved(s, s.size() - 1, from + run)));
          },
          "compared");
      ordered_by(run);
    }
    return b.compute("places", with(x.shape(), k), [&](const Indices& s) {
      Indices at = s;
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
      at.push_back(s[axis]);
      return ir::cast(kInt32, ir::floor_mod(keys.at(at), whole(after)));
    });
  }

  /// A value and its position, of which there are `after`, in one int64: those that come first are less.
  Expr key_of(const te::Tensor& x, const std::optional<te::Tensor>& positions, const Indices& at, int64_t after) const {
    const Expr value = ordered(x.at(at)), position = ir::cast(kInt64, positions ? positions->at(at) : at[axis]);
    return (largest ? whole(0) - value : value) * whole(after) + position;
  }
  /// An int64 in the order of the value: of floats their bits, those of negative ones counted downwards from zero.
  static Expr ordered(const Expr& value) {
    if (!value->dtype.is_float()) return ir::cast(kInt64, value);
    const Expr bits = ir::cast(kInt64, ir::call(ir::Intrinsic::float_bits, {ir::cast(kFloat32, value)})), sign = whole(int64_t{1} << 31);
    return ir::select(bits < sign, bits, sign - bits);
  }

  /// Of keys the least, then the least of those that are more, and so on.
  te::Tensor picked_by_keys(const te::Tensor& x, const std::optional<te::Tensor>& positions, int64_t bound) const {
    const int64_t after = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bound)));
    const te::Tensor keys = b.compute("keys", x.shape(), [&](const Indices& s) { return key_of(x, positions, s, after); });
    std::vector<te::Tensor> found;
    for (int64_t n = 0; n < k; ++n)
      found.push_back(b.reduce("next", with(x.shape(), 1), {x.shape()[axis]}, te::Reducer::min, [&](const Indices& s, const Indices& r) {
        const Expr key = keys.at(moved(s, axis, r[0]));
        return n == 0 ? key : ir::select(found.back().at(s) < key, key, te::reducer_identity(te::Reducer::min, kInt64));
      }));
    return places_of(found, [&](const Expr& key) { return ir::cast(kInt32, ir::floor_mod(key, whole(after))); });
  }

  /// What was found one by one, each at one place along the axis, as one array.
  te::Tensor places_of(const std::vector<te::Tensor>& found, const std::function<Expr(const Expr&)>& place) const {
    return b.compute("places", with(found.front().shape(), k), [&](const Indices& s) {
      const Indices at = moved(s, axis, ir::index(0));
      Expr value = found.back().at(at);
      for (size_t n = found.size() - 1; n-- > 0;) value = ir::select(ir::equal(s[axis], ir::index(static_cast<int64_t>(n))), found[n].at(at), value);
      return place(value);
    });
  }

  /// The best one, then the best of those that come behind it, and so on.
  te::Tensor picked(const te::Tensor& x, const std::optional<te::Tensor>& positions) const {
    const Dims one = with(x.shape(), 1);
    const std::vector<int64_t> all{x.shape()[axis]};
    const te::Reducer best = largest ? te::Reducer::max : te::Reducer::min;
    const auto position = [&](const Indices& at, const Expr& r) { return positions ? positions->at(at) : ir::cast(kInt32, r); };
    std::vector<te::Tensor> values, places;
    for (int64_t n = 0; n < k; ++n) {
      const auto is_left = [&](const Indices& s, const Indices& r) {  // behind the one before
        const Indices at = moved(s, axis, r[0]);
        const Expr mine = x.at(at), last = values.back().at(s);
        return (largest ? mine < last : last < mine) || (ir::equal(mine, last) && places.back().at(s) < position(at, r[0]));
      };
      const te::Tensor value = b.reduce("value", one, all, best, [&](const Indices& s, const Indices& r) {
        const Expr mine = x.at(moved(s, axis, r[0]));
        return n == 0 ? mine : ir::select(is_left(s, r), mine, te::reducer_identity(best, x.dtype()));
      });
      const te::Tensor place = b.reduce("place", one, all, te::Reducer::min, [&](const Indices& s, const Indices& r) {
        const Indices at = moved(s, axis, r[0]);
        const Expr is = ir::equal(x.at(at), value.at(s));
        return ir::select(n == 0 ? is : is && is_left(s, r), position(at, r[0]), te::reducer_identity(te::Reducer::min, kInt32));
      });
      values.push_back(value);
      places.push_back(place);
    }
    return places_of(places, [](const Expr& place) { return place; });
  }

  /// An element's rank is the number of elements that come before it; the element of rank p is at place p. Quadratic, but without any order between elements.
  te::Tensor ranked(const te::Tensor& x, const std::optional<te::Tensor>& positions) const {
    const Expr one = ir::constant(kInt32, 1), none = ir::constant(kInt32, 0);
    const int64_t count = x.shape()[axis];
    const te::Tensor ranks = b.reduce("ranks", x.shape(), {count}, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
      const Indices other = moved(s, axis, r[0]);
      const Expr mine = x.at(s), theirs = x.at(other);
      const Expr before = largest ? mine < theirs : theirs < mine;
      const Expr earlier = positions ? positions->at(other) < positions->at(s) : r[0] < s[axis];
      return ir::select(before || (ir::equal(mine, theirs) && earlier), one, none);
    });
    return b.reduce("places", with(x.shape(), k), {count}, te::Reducer::max, [&](const Indices& s, const Indices& r) {
      const Indices at = moved(s, axis, r[0]);
      return ir::select(ir::equal(ranks.at(at), ir::cast(kInt32, s[axis])), positions ? positions->at(at) : ir::cast(kInt32, r[0]), none);
    });
  }
};

Tensors top_k_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), in[0]->rank()));
  const Order order{b, static_cast<size_t>(axis), c.node->attrs.integer("k", 0), c.node->attrs.integer("largest", 1) != 0,
                    c.node->attrs.integer("sorted", 0) != 0};
  const te::Tensor first = order.of(*in[0]);
  // What is no number has no order: whatever comes of it stays a position.
  const Expr last = ir::constant(kInt32, static_cast<double>(in[0]->shape()[order.axis] - 1));
  return std::vector{b.compute("top_k", c.outputs[0].shape, [&](const Indices& s) { return ir::cast(kInt64, ir::min(first.at(s), last)); })};
}

}  // namespace

std::vector<OpDef> top_k() {
  return {{"top_k_indices", FusionKind::opaque, infer_top_k, top_k_to_te, kExact, "Positions of the k largest (or smallest) elements along axis, in order"}};
}

}  // namespace tw::graph::ops
