// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/cuda/tiles.h"

/// What the templates for dense layers share.
namespace tw::space::cuda {

/// From so many rows on blocks compute tiles of the result, as TVM chooses.
inline constexpr int64_t kLargeBatch = 32;

/// Without padding.
inline std::optional<cpu::Anchor> dense_anchor(const te::Dag& dag) {
  const auto a = find_anchor(dag, "dense");
  return a && a->pad < 0 && dag.ops[static_cast<size_t>(a->reduce)].axes.size() == 2 ? a : std::nullopt;
}
inline int64_t rows_of(const te::Dag& dag, const cpu::Anchor& a) { return dag.ops[static_cast<size_t>(a.reduce)].axes[0].extent; }
inline int64_t columns_of(const te::Dag& dag, const cpu::Anchor& a) { return dag.ops[static_cast<size_t>(a.reduce)].axes[1].extent; }
inline int64_t depth_of(const te::Dag& dag, const cpu::Anchor& a) { return dag.ops[static_cast<size_t>(a.reduce)].reduce_axes[0].extent; }

}  // namespace tw::space::cuda
