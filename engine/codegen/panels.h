// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// A few lines of an array that are asked for some time before they are read.
struct PanelFetch {
  ir::Buffer buffer;
  ir::Expr at;    ///< element of the first line, over the variables of the loops around; not beyond the array's end
  int lines = 0;  ///< from there on
};
/// By the body of the loop in every turn of which they are asked for.
using PanelFetches = std::unordered_map<const tir::StmtNode*, std::vector<PanelFetch>>;

/// Inputs that are read panel by panel, each panel again and again before the next: weights of a block of output channels, columns of a packed matrix.
struct Panels {
  /// While a panel is in use its loops ask for the next one, evenly, so that arithmetic and memory work at the same time. In a network weights come from memory
  /// in every run, and no processor foresees the jump back to the panel's beginning. Only for panels of which two fit into the level-2 cache.
  PanelFetches fetches;
  /// Inputs with larger panels: they come from beyond that cache each time.
  std::unordered_set<const ir::BufferNode*> wide;
};
Panels panels_of(const tir::Func& f, const Target& target);

}  // namespace tw::codegen
