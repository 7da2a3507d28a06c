// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/kernel_ranges.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

using ir::Expr;
using tir::ForKind;
using tir::Stmt;

Ranges kernel_ranges(const tir::Launch& launch) {
  Ranges ranges;
  for (const auto& c : launch.coordinates) {
    const auto d = static_cast<size_t>(c.kind) - static_cast<size_t>(tir::is_block(c.kind) ? ForKind::block_x : ForKind::thread_x);
    ranges[c.var.get()] = {0, (tir::is_block(c.kind) ? launch.grid[d] : launch.block[d]) - 1};
  }
  tir::walk(launch.body, [&](const Stmt& x) {
    const auto* n = tir::as<tir::ForNode>(x);
    if (!n) return;
    const auto min = interval_of(n->min, ranges), last = interval_of(n->min + n->extent - ir::index(1), ranges);
    if (min && last) ranges[n->var.get()] = {min->lo, std::max(min->lo, last->hi)};
  });
  return ranges;
}

bool indices_fit(const tir::Launch& launch, const Ranges& ranges) {
  bool fit = true;
  tir::walk_exprs(launch.body, [&](const Expr& root) {
    const auto check = [&](const Expr& e) {
      if (e->dtype.element() != ir::kIndex) return;
      const auto range = interval_of(e, ranges);
      fit = fit && range && range->lo >= INT32_MIN && range->hi <= INT32_MAX;
    };
    ir::walk(root, check);
    ir::walk(root, [&](const Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) fit = fit && l->buffer->num_elements() <= INT32_MAX;
    });
  });
  tir::walk(launch.body, [&](const Stmt& s) {
    if (const auto* n = tir::as<tir::StoreNode>(s)) fit = fit && n->buffer->num_elements() <= INT32_MAX;
    if (const auto* n = tir::as<tir::LetNode>(s)) fit = fit && n->var->dtype.element() != ir::kIndex;
  });
  return fit;
}

}  // namespace tw::codegen
