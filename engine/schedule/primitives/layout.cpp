// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

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
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected pieces of dimension {} of '{}' of at most 2^30 elements together for 'layout'", d, st.op.name));
  }
  for (size_t d = 0; d < rank; ++d)
    if (outermost[d] != 1)
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected exactly one derived piece for dimension {} of '{}' for 'layout', found {}", d, st.op.name, outermost[d]));
  st.layout = p.pieces;
  return {};
}

Step random_layout(const Draw& d) {
  LayoutStep step{d.stage, {}};
  const int rank = static_cast<int>(d.at().op.output->shape.size());
  for (int k = 0; k < rank; ++k) step.pieces.push_back({k, 0});
  for (int k = 0; k < 2 && rank > 0; ++k) step.pieces.push_back({d.below(static_cast<size_t>(rank)), d.rng.range(2, 4)});
  return step;
}

}  // namespace

std::vector<int64_t> block_lengths(const std::vector<LayoutStep::Piece>& layout, size_t rank) {
  std::vector<int64_t> out(rank, 1);
  for (const LayoutStep::Piece& p : layout)
    if (p.factor) out[static_cast<size_t>(p.dim)] *= p.factor;
  return out;
}

std::string layout_text(const std::vector<LayoutStep::Piece>& pieces) {
  std::string out;
  for (const auto& p : pieces) out += p.factor ? fmt::format("[d{}: {}]", p.dim, p.factor) : fmt::format("[d{}]", p.dim);
  return out;
}

const PrimitiveOf<LayoutStep>& LayoutStep::primitive() {
  static const PrimitiveOf<LayoutStep> row{
      .about =
          {.code = "LT",
           .words =
               {{"layout",
                 "Changes the order in which an array's elements lie in memory, for example in blocks of 16 channels. Constants are rearranged ahead of time.",
                 "layout transformation as in NeoCPU, Liu et al., USENIX ATC 2019"}},
           .random = random_layout},
      .json = {[](StepWriter& write, const LayoutStep& s) {
                 std::vector<std::vector<int64_t>> pieces;
                 for (const LayoutStep::Piece& p : s.pieces) pieces.push_back({p.dim, p.factor});
                 write(s.stage, pieces);
               },
               [](StepReader& read) -> Expected<LayoutStep> {
                 LayoutStep s;
                 std::vector<std::vector<int64_t>> pieces;
                 read(s.stage);
                 read(pieces);
                 for (const auto& p : pieces) {
                   if (p.size() < 2) return Error(ErrorCode::parse_error, "Expected dimension and factor of each piece of a layout, found fewer numbers");
                   s.pieces.push_back({static_cast<int>(p[0]), p[1]});
                 }
                 return s;
               }},
      .apply = apply_layout,
      .describe = [](const LayoutStep& s, const Names& n) { return fmt::format("layout({}, {})", n.stage(s.stage), layout_text(s.pieces)); }};
  return row;
}

}  // namespace tw::schedule
