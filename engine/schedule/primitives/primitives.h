// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

/// One function per primitive: check, then change the state.
/// Errors: illegal_schedule where the stage's form forbids it, invalid_argument for an index out of range.
namespace tw::schedule {

Expected<void> apply_split(State& s, const SplitStep& p);
Expected<void> apply_fuse(State& s, const FuseStep& p);
Expected<void> apply_reorder(State& s, const ReorderStep& p);
Expected<void> apply_annotation(State& s, const AnnotationStep& p);
Expected<void> apply_compute_at(State& s, const ComputeAtStep& p);
Expected<void> apply_compute_inline(State& s, const ComputeInlineStep& p);
Expected<void> apply_compute_root(State& s, const ComputeRootStep& p);
Expected<void> apply_cache_read(State& s, const CacheReadStep& p);
Expected<void> apply_cache_write(State& s, const CacheWriteStep& p);
Expected<void> apply_layout(State& s, const LayoutStep& p);
Expected<void> apply_rfactor(State& s, const RfactorStep& p);
Expected<void> apply_storage_align(State& s, const StorageAlignStep& p);
Expected<void> apply_pad(State& s, const PadStep& p);
Expected<void> apply_double_buffer(State& s, const DoubleBufferStep& p);
Expected<void> apply_winograd(State& s, const WinogradStep& p);
Expected<void> apply_pipeline(State& s, const PipelineStep& p);
Expected<void> apply_tensorize(State& s, const TensorizeStep& p);
Expected<void> apply_im2col(State& s, const Im2colStep& p);

/// Whether a stage that is computed ahead (double_buffer, pipeline) can be as things stand. Errors: illegal_schedule, naming stage and loop.
Expected<void> check_ahead(const State& s, int stage);
/// Whether a stage with a `warp_product` can have one as things stand. Errors: illegal_schedule, naming the stage.
Expected<void> check_tensorize(const Stage& st);
/// The two loads of a body a[...] * b[...], casts around them left out; nulls for other bodies.
std::pair<const ir::LoadNode*, const ir::LoadNode*> product_of_loads(const ir::Expr& body);
/// Blocks outside of threads and every coordinate once along the loops around and of each stage. Errors: illegal_schedule, naming stage and loop.
Expected<void> check_bindings(const State& s);
/// Steps after a compute_at can break what it checked: every stage computed inside a loop still finds that loop, with all its readers inside, what is computed
/// ahead still has a loop that it can run ahead of, and products by a warp their loops.
Expected<void> check_locations(const State& s);

// Shared checks and helpers.

/// More iterations than any loop of ours has; products below it cannot overflow.
constexpr int64_t kMaxExtent = int64_t{1} << 48;

/// The stage, if the index names one that computes something.
Expected<Stage*> computed_stage(State& s, int stage, const char* primitive);
/// Position of a loop in a stage, or -1.
int position_of(const Stage& stage, const ir::VarNode* var);
/// Stages whose bodies read stage i.
std::vector<int> readers_of(const State& s, int stage);
std::vector<int> readers_of(const State& s, const ir::BufferNode& buffer);
bool is_output(const State& s, int stage);
/// The axis of the op that a loop is the whole of. Errors: illegal_schedule naming stage and loop where it was split or fused.
Expected<te::Axis*> whole_axis(Stage& stage, int iter, const char* primitive);
/// Inserts a stage at `position`; later indices in the state move up.
void insert_stage(State& s, int position, Stage stage);
/// The body with every read of `from` replaced.
ir::Expr replace_reads(const ir::Expr& body, const ir::BufferNode* from, const std::function<ir::Expr(const std::vector<ir::Expr>&)>& with);
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
