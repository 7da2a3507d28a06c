// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/loops.h"

/// What primitives share, and others who look at their stages.
namespace tw::schedule {

/// Whether a stage that is computed ahead (double_buffer, pipeline) can be as things stand. Errors: illegal_schedule, naming stage and loop.
Expected<void> check_ahead(const State& s, int stage);
/// The two loads of a body a[...] * b[...], casts around them left out; nulls for other bodies.
std::pair<const ir::LoadNode*, const ir::LoadNode*> product_of_loads(const ir::Expr& body);
/// Of each of `rank` dimensions, the elements inside its open piece: the length of its blocks. 1 where a layout has none.
std::vector<int64_t> block_lengths(const std::vector<LayoutStep::Piece>& layout, size_t rank);
/// Such as `[d0][d1][d0: 16]`.
std::string layout_text(const std::vector<LayoutStep::Piece>& pieces);

/// More iterations than any loop of ours has; products below it cannot overflow.
constexpr int64_t kMaxExtent = int64_t{1} << 48;

/// The stage, if the index names one that computes something.
Expected<Stage*> computed_stage(State& s, int stage, const char* primitive);
bool is_output(const State& s, int stage);
/// The axis of the op that a loop is the whole of. Errors: illegal_schedule naming stage and loop where it was split or fused.
Expected<te::Axis*> whole_axis(Stage& stage, int iter, const char* primitive);
/// Splits a loop into an outer one and inner ones of these extents. Errors: as for the step `split`, by the name of `primitive`.
Expected<void> split_loop(State& s, int stage, int iter, const std::vector<int64_t>& lengths, const char* primitive);
/// The extents that step number `source` gave the inner loops of its split. Errors: invalid_argument if it is no earlier split.
Expected<std::vector<int64_t>> split_lengths(const State& s, int source, const char* primitive);
/// What is computed in loop `from` of a stage is computed in its loop `to` instead.
void move_attached(State& s, int stage, const ir::Var& from, const ir::Var& to);
/// Inserts a stage at `position`; later indices in the state move up.
void insert_stage(State& s, int position, Stage stage);
/// A name that no stage has: `base`, or with a number after it.
std::string unique_name(const State& s, const std::string& base);
/// Whether no step but inlining has changed the stage.
bool is_untouched(const Stage& st);
/// The values of loops of these extents, outermost first, at an iteration of the loop that they were joined to.
std::vector<ir::Expr> unflatten(ir::Expr flat, const std::vector<int64_t>& extents);
/// Fresh loops for an op's axes.
std::vector<Iter> root_iters(const te::Op& op);
Expected<ir::Scope> parse_scope(const std::string& name);

}  // namespace tw::schedule
