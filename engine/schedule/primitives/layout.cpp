// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<void> apply_layout(State& s, const LayoutStep& p) {
  if (p.stage < 0 || p.stage >= static_cast<int>(s.stages.size()))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a stage below {} for 'layout', found {}", s.stages.size(), p.stage));
  Stage& st = s.stages[static_cast<size_t>(p.stage)];
  const size_t rank = st.op.output->shape.size();
  std::vector<int> outermost(rank, 0);
  std::vector<bool> started(rank, false);
  std::vector<int64_t> fixed(rank, 1);
  for (const LayoutStep::Piece& piece : p.pieces) {
    if (piece.dim < 0 || piece.dim >= static_cast<int>(rank) || piece.factor < 0 || piece.factor > (int64_t{1} << 30))
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected pieces of the {} dimensions of '{}' for 'layout', found ({}, {})", rank, st.op.name, piece.dim, piece.factor));
    const auto d = static_cast<size_t>(piece.dim);
    // The derived piece must stand before the fixed ones of its dimension, or the order of counting would be undefined.
    if (piece.factor == 0 && started[d])
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected the derived piece of dimension {} of '{}' first for 'layout'", d, st.op.name));
    started[d] = true;
    outermost[d] += piece.factor == 0;
    if (piece.factor != 0) fixed[d] *= piece.factor;
    if (fixed[d] > (int64_t{1} << 30))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected pieces of dimension {} of '{}' of at most 2^30 elements together for 'layout'", d, st.op.name));
  }
  for (size_t d = 0; d < rank; ++d)
    if (outermost[d] != 1)
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected exactly one derived piece for dimension {} of '{}' for 'layout', found {}", d, st.op.name, outermost[d]));
  st.layout = p.pieces;
  return {};
}

}  // namespace tw::schedule
