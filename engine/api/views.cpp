// SPDX-License-Identifier: Apache-2.0
#include "engine/api/views.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tw::api {

namespace {

constexpr int64_t kAlignment = 64;  ///< of every argument of a kernel

class Elider {
 public:
  Elider(const graph::Graph& g, const graph::Partition& p, KernelPlan& plan) : g_(g), p_(p), plan_(plan) {}

  void run() {
    std::erase_if(plan_.kernels, [&](const PlannedKernel& k) { return elide(k); });
    for (PlannedKernel& k : plan_.kernels)
      for (int& a : k.arrays) a = stands_for(a);
    drop_unused();
  }

 private:
  PlannedArray& array(int a) { return plan_.arrays[static_cast<size_t>(a)]; }
  const graph::Value& value(int a) { return g_.values[static_cast<size_t>(array(a).value)]; }

  /// The array that took the place of `a`, which may be itself.
  int stands_for(int a) {
    while (a < static_cast<int>(same_.size()) && same_[static_cast<size_t>(a)] >= 0) a = same_[static_cast<size_t>(a)];
    return a;
  }
  /// Where the storage of `a` lies in the end.
  int root(int a) {
    while (array(a).base >= 0) a = stands_for(array(a).base);
    return a;
  }

  bool is_end(const std::vector<int>& ends, int a) { return array(a).layout.empty() && std::find(ends.begin(), ends.end(), array(a).value) != ends.end(); }
  /// Memory that the executable does not place: inputs, outputs and constants of the network.
  bool is_fixed(int a) { return value(a).constant || is_end(g_.inputs, a) || is_end(g_.outputs, a); }

  runtime::ArgSpec spec(int a) { return {value(a).name, value(a).type.dtype, value(a).type.shape, array(a).layout, false, false}; }

  /// Whether the kernel did nothing but copy, and the arrays now say so.
  bool elide(const PlannedKernel& k) {
    if (k.group < 0) return false;
    const std::vector<int>& nodes = p_.groups[static_cast<size_t>(k.group)].nodes;
    const auto all = [&](const char* op) { return std::all_of(nodes.begin(), nodes.end(), [&](int n) { return g_.nodes[static_cast<size_t>(n)].op == op; }); };
    std::vector<int> arrays;
    for (const int a : k.arrays) arrays.push_back(stands_for(a));
    if (all("reshape") && arrays.size() == 2) return elide_reshape(arrays[0], arrays[1]);
    if (nodes.size() != 1) return false;
    const graph::Node& n = g_.nodes[static_cast<size_t>(nodes[0])];
    if (n.op == "concat") return elide_concat(n, arrays);
    if (n.op == "slice") return elide_slice(n, arrays[0], arrays[1]);
    return false;
  }

  /// How memory walks through the elements in row-major order: counts and steps, outermost first, with as few of them as can say it. Nothing where blocks have padding.
  std::optional<std::vector<std::pair<int64_t, int64_t>>> walk(int a) {
    const std::vector<int64_t>& shape = value(a).type.shape;
    std::vector<int64_t> step(shape.size(), 1), inner(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;) step[d - 1] = step[d] * shape[d];
    Layout layout = array(a).layout;
    if (layout.empty())
      for (size_t d = 0; d < shape.size(); ++d) layout.push_back({static_cast<int>(d), 0});
    std::vector<std::pair<int64_t, int64_t>> out;  // innermost first
    for (size_t k = layout.size(); k-- > 0;) {
      const auto d = static_cast<size_t>(layout[k].dim);
      if (shape[d] % (inner[d] * std::max<int64_t>(1, layout[k].factor)) != 0) return std::nullopt;
      const int64_t count = layout[k].factor ? layout[k].factor : shape[d] / inner[d], by = step[d] * inner[d];
      inner[d] *= count;
      if (count == 1) continue;
      if (!out.empty() && by == out.back().first * out.back().second)
        out.back().first *= count;
      else
        out.emplace_back(count, by);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  bool elide_reshape(int from, int to) {
    const auto before = walk(from), after = walk(to);
    if (!before || before != after) return false;
    if (is_end(g_.outputs, to)) {
      if (is_fixed(from) || array(from).base >= 0 || has_parts(from)) return false;
      become(from, to);
    } else {
      become(to, from);
    }
    return true;
  }
  void become(int a, int other) {
    same_.resize(plan_.arrays.size(), -1);
    same_[static_cast<size_t>(a)] = other;
  }
  bool has_parts(int a) {
    return std::any_of(plan_.arrays.begin(), plan_.arrays.end(), [&](const PlannedArray& p) { return p.base >= 0 && stands_for(p.base) == a; });
  }

  /// Bytes between neighbours along `dim` in the outermost piece of that dimension, if nothing lies outside of it; 0 otherwise. `block` is set to the number
  /// of neighbours that such a step passes.
  int64_t outermost_step(int a, size_t dim, int64_t& block) {
    const runtime::ArgSpec s = spec(a);
    const std::vector<int64_t> extents = s.physical_shape();
    int64_t bytes = s.physical_bytes();
    block = 1;
    for (size_t k = 0; k < extents.size(); ++k) {
      const bool mine = s.layout.empty() ? k == dim : s.layout[k].dim == static_cast<int>(dim) && s.layout[k].factor == 0;
      if (!mine) {
        if (extents[k] != 1) return 0;
        continue;
      }
      for (const runtime::LayoutPiece& p : s.layout)
        if (p.dim == static_cast<int>(dim) && p.factor > 0) block *= p.factor;
      return bytes / extents[k];
    }
    return 0;
  }

  bool elide_concat(const graph::Node& n, const std::vector<int>& arrays) {
    const int whole = arrays.back();
    const size_t rank = value(whole).type.shape.size();
    const int64_t axis = n.attrs.integer("axis", 0);
    const size_t dim = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    int64_t block = 1;
    const int64_t step = outermost_step(whole, dim, block);
    if (is_fixed(whole) || step == 0 || arrays.size() != n.inputs.size() + 1) return false;
    std::vector<int64_t> offsets;
    int64_t at = 0;
    for (size_t k = 0; k + 1 < arrays.size(); ++k) {
      const int part = arrays[k];
      const bool own =
          array(part).value == n.inputs[k] && array(part).layout == array(whole).layout && !is_fixed(part) && array(part).base < 0 && root(whole) != part;
      const int64_t extent = value(part).type.shape[dim];
      // Whoever writes a part writes the padding of its last block as well, which must be that of the whole.
      const bool whole_blocks = extent % block == 0 || k + 2 == arrays.size();
      if (!own || !whole_blocks || at % kAlignment != 0 || std::count(arrays.begin(), arrays.end(), part) != 1) return false;
      offsets.push_back(at);
      at += extent / block * step;
    }
    for (size_t k = 0; k + 1 < arrays.size(); ++k) {
      array(arrays[k]).base = whole;
      array(arrays[k]).offset = offsets[k];
    }
    return true;
  }

  bool elide_slice(const graph::Node& n, int from, int to) {
    if (array(from).value != n.inputs[0] || is_fixed(from) || is_fixed(to) || array(from).layout != array(to).layout || array(to).base >= 0 || root(from) == to)
      return false;
    const std::vector<int64_t>&whole = value(from).type.shape, &part = value(to).type.shape;
    const std::vector<int64_t> starts = n.attrs.integers("starts", std::vector<int64_t>(whole.size(), 0));
    size_t dim = whole.size();
    for (size_t d = 0; d < whole.size(); ++d) {
      if (whole[d] == part[d] && starts[d] == 0) continue;
      if (dim < whole.size()) return false;
      dim = d;
    }
    const std::vector<int64_t> steps = n.attrs.integers("steps", std::vector<int64_t>(whole.size(), 1));
    int64_t block = 1;
    const int64_t step = dim < whole.size() && steps[dim] == 1 ? outermost_step(from, dim, block) : 0;
    // A part that ends inside a block has the elements after it for padding, which are read only: no kernel writes a part.
    if (step == 0 || starts[dim] % block != 0 || starts[dim] / block * step % kAlignment != 0) return false;
    array(to).base = from;
    array(to).offset = starts[dim] / block * step;
    return true;
  }

  void drop_unused() {
    std::vector<bool> used(plan_.arrays.size(), false);
    for (const PlannedKernel& k : plan_.kernels)
      for (const int a : k.arrays) used[static_cast<size_t>(a)] = true;
    for (int a = 0; a < static_cast<int>(used.size()); ++a) {
      if (is_end(g_.inputs, a) || is_end(g_.outputs, a)) used[static_cast<size_t>(a)] = true;
      if (array(a).base >= 0) array(a).base = stands_for(array(a).base);
    }
    for (int a = 0; a < static_cast<int>(used.size()); ++a)
      if (used[static_cast<size_t>(a)])
        for (int b = array(a).base; b >= 0; b = array(b).base) used[static_cast<size_t>(b)] = true;
    std::vector<int> renumbered(used.size(), -1);
    std::vector<PlannedArray> kept;
    for (size_t a = 0; a < used.size(); ++a) {
      if (!used[a]) continue;
      renumbered[a] = static_cast<int>(kept.size());
      kept.push_back(plan_.arrays[a]);
    }
    for (PlannedArray& a : kept)
      if (a.base >= 0) a.base = renumbered[static_cast<size_t>(a.base)];
    for (PlannedKernel& k : plan_.kernels)
      for (int& a : k.arrays) a = renumbered[static_cast<size_t>(a)];
    plan_.arrays = std::move(kept);
  }

  const graph::Graph& g_;
  const graph::Partition& p_;
  KernelPlan& plan_;
  std::vector<int> same_;  ///< per array, the one that took its place, or -1
};

}  // namespace

void elide_copies(const graph::Graph& g, const graph::Partition& p, KernelPlan& plan) { Elider(g, p, plan).run(); }

}  // namespace tw::api
