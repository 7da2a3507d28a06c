// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/rng.h"
#include "engine/te/dag.h"

namespace tw::testing {

/// Random chains of stages over small arrays. Each stage reads what came before at affine places that stay inside, or barely do not: those are clamped, wrapped around, or
/// read under a condition that asks for just what is missing.
class RandomPipeline {
 public:
  explicit RandomPipeline(uint64_t seed) : rng_(seed) {}

  te::DagPtr make() {
    made_.push_back(b_.placeholder("x", shape(), kFloat32));
    for (int64_t stages = rng_.range(2, 3), k = 0; k < stages; ++k) made_.push_back(stage(k + 1 == stages ? "out" : "s" + std::to_string(k)));
    return std::move(b_).finish({made_.back()});
  }

 private:
  /// An affine index with the least and the greatest value that it takes.
  struct Place {
    ir::Expr e;
    int64_t lo, hi;
  };
  struct Axis {
    ir::Expr var;
    int64_t extent;
  };

  std::vector<int64_t> shape() {
    std::vector<int64_t> s;
    for (int64_t rank = rng_.range(1, 2); rank > 0; --rank) s.push_back(rng_.range(2, 9));
    return s;
  }

  te::Tensor stage(const std::string& name) {
    const std::vector<int64_t> s = shape();
    const auto axes_of = [](const te::Indices& vars, const std::vector<int64_t>& extents, std::vector<Axis>& into) {
      for (size_t d = 0; d < vars.size(); ++d) into.push_back({vars[d], extents[d]});
    };
    if (rng_.uniform(3) == 0) {
      const std::vector<int64_t> reduced{rng_.range(2, 5)};
      const te::Reducer reducer = rng_.uniform(2) == 0 ? te::Reducer::sum : te::Reducer::max;
      return b_.reduce(name, s, reduced, reducer, [&](const te::Indices& i, const te::Indices& r) {
        std::vector<Axis> axes;
        axes_of(i, s, axes);
        axes_of(r, reduced, axes);
        return value(axes);
      });
    }
    return b_.compute(name, s, [&](const te::Indices& i) {
      std::vector<Axis> axes;
      axes_of(i, s, axes);
      return value(axes);
    });
  }

  ir::Expr value(const std::vector<Axis>& axes) {
    ir::Expr sum = read(made_.back(), axes);
    if (rng_.uniform(2) == 0) sum = sum * ir::fimm(kFloat32, 0.5) + read(made_[rng_.uniform(made_.size())], axes);
    // Whole numbers that are divided by 0 just behind the end of an axis.
    if (const Axis& a = axes[rng_.uniform(axes.size())]; rng_.uniform(6) == 0)
      sum = sum + ir::cast(kFloat32, ir::floor_div(ir::index(6), ir::index(a.extent) - a.var));
    return sum;
  }

  ir::Expr read(const te::Tensor& from, const std::vector<Axis>& axes) {
    te::Indices indices;
    std::optional<ir::Expr> condition;
    const auto ask = [&](const ir::Expr& c) { condition = condition ? *condition && c : c; };
    for (const int64_t extent : from.shape()) {
      Place p = place(axes);
      const int64_t last = extent - 1;
      switch (rng_.uniform(4)) {
        case 0:
          if (p.lo < 0) p.e = ir::max(p.e, ir::index(0));
          if (p.hi > last) p.e = ir::min(p.e, ir::index(last));
          break;
        case 1:
          if (p.lo < 0 || p.hi > last) p.e = ir::floor_mod(p.e, ir::index(extent));
          break;
        default:
          if (p.lo < 0) ask(ir::index(0) <= p.e);
          if (p.hi > last) ask(p.e < ir::index(extent));
      }
      indices.push_back(p.e);
    }
    const ir::Expr element = from.at(indices);
    return condition ? ir::select(*condition, element, ir::fimm(kFloat32, 0.25)) : element;
  }

  Place place(const std::vector<Axis>& axes) {
    const int64_t shift = rng_.range(-2, 2);
    Place p{ir::index(shift), shift, shift};
    for (const Axis& a : axes) {
      static constexpr int64_t kFactors[] = {0, 0, 1, 1, 1, 2, -1};
      const int64_t factor = kFactors[rng_.uniform(std::size(kFactors))];
      if (factor == 0) continue;
      p.e = p.e + a.var * factor;
      (factor > 0 ? p.hi : p.lo) += factor * (a.extent - 1);
    }
    if (rng_.uniform(8) == 0) {
      p.e = ir::floor_div(p.e, ir::index(2));
      p.lo = p.lo < 0 ? (p.lo - 1) / 2 : p.lo / 2;
      p.hi = p.hi < 0 ? (p.hi - 1) / 2 : p.hi / 2;
    }
    return p;
  }

  Rng rng_;
  te::DagBuilder b_;
  std::vector<te::Tensor> made_;
};

}  // namespace tw::testing
