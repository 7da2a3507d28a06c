// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

/// One function per primitive: check, then change the state. `step` is the position in the schedule, kept as provenance.
/// Errors: illegal_schedule where the stage's form forbids it, invalid_argument for an index out of range.
namespace tw::schedule {

Expected<void> apply_split(State& s, const SplitStep& p, int step);
Expected<void> apply_fuse(State& s, const FuseStep& p, int step);
Expected<void> apply_reorder(State& s, const ReorderStep& p, int step);
Expected<void> apply_annotation(State& s, const AnnotationStep& p, int step);
Expected<void> apply_compute_at(State& s, const ComputeAtStep& p, int step);
Expected<void> apply_compute_inline(State& s, const ComputeInlineStep& p, int step);
Expected<void> apply_compute_root(State& s, const ComputeRootStep& p, int step);
Expected<void> apply_cache_read(State& s, const CacheReadStep& p, int step);
Expected<void> apply_cache_write(State& s, const CacheWriteStep& p, int step);
Expected<void> apply_layout(State& s, const LayoutStep& p, int step);

/// Steps after a compute_at can break what it checked: every stage computed inside a loop still finds that loop, with all its readers inside.
Expected<void> check_locations(const State& s);

// Shared checks and helpers.

/// The stage, if the index names one that computes something.
Expected<Stage*> computed_stage(State& s, int stage, const char* primitive);
/// Position of a loop in a stage, or -1.
int position_of(const Stage& stage, const ir::VarNode* var);
/// Stages whose bodies read stage i.
std::vector<int> readers_of(const State& s, int stage);
/// Inserts a stage at `position`; later indices in the state move up.
void insert_stage(State& s, int position, Stage stage);
/// The body with every read of `from` replaced.
ir::Expr replace_reads(const ir::Expr& body, const ir::BufferNode* from, const std::function<ir::Expr(const std::vector<ir::Expr>&)>& with);
/// Fresh loops for an op's axes.
std::vector<Iter> root_iters(const te::Op& op);
Expected<ir::Scope> parse_scope(const std::string& name);

}  // namespace tw::schedule
