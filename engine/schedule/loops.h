// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <unordered_map>

#include "engine/ir/visit.h"
#include "engine/schedule/schedule.h"

/// What is asked again and again of the loops of stages.
namespace tw::schedule {

/// One loop of a stage.
struct LoopRef {
  int stage;
  size_t loop;
};

inline bool has_loops(const Stage& st) { return !st.op.is_placeholder() && st.location != ComputeLocation::inlined; }
/// Position of a loop in a stage, or -1.
int position_of(const Stage& stage, const ir::VarNode* var);
/// The stage in whose nest a stage is computed.
int root_of(std::span<const Stage> stages, int stage);

/// The loops that bear on what a stage computes: its own, and those around it, outermost last. Around a shared array loops bound to threads and virtual threads
/// do not: all threads of the block together compute what all of them need.
std::vector<LoopRef> loops_around(std::span<const Stage> stages, int stage);

/// Chooses where arrays live whose scope the schedule left open, of stages that are computed inside loops bound to blocks or threads: local (a thread's own)
/// inside loops bound to threads and for what threads reduce together, shared (a block's) elsewhere.
/// Source: the rule of TVM (Chen et al., OSDI 2018), which infers a buffer's scope from the threads around its attachment.
void resolve_scopes(std::vector<Stage>& stages);

/// Of axes, of loops, and of loops that others were made from.
using Extents = std::unordered_map<const ir::VarNode*, int64_t>;

/// From the extents of a stage's axes to those of its loops. `shrink`: inner lengths of splits shrink to an extent that is smaller than they are, as they do
/// where only a region of the stage is computed; else they are as the steps say.
Extents loop_extents(const Stage& st, Extents of_axes, bool shrink);
/// The extents of the axes as they stand.
Extents axis_extents(const Stage& st);

/// The axes of a stage, and whatever its loops were made from, over its loops.
struct LoopValues {
  ir::VarMap value;
  std::vector<std::pair<ir::Expr, int64_t>> surplus;  ///< values of what was split that must be below its extent, where the parts cover more
};
/// `of_loops` has the loops' values. Fused loops run over real iterations only (guards leave out others), so what is left for the outermost parent is below its extent.
LoopValues loop_values(const Stage& st, const Extents& extents, ir::VarMap of_loops);

/// Stages whose bodies read an array or stage i.
std::vector<int> readers_of(std::span<const Stage> stages, const ir::BufferNode& buffer);
std::vector<int> readers_of(std::span<const Stage> stages, int stage);
/// The stages in whose loops stage i is read: its readers, or theirs where they are inlined. Ascending, without repetition.
std::vector<int> reading_loops(std::span<const Stage> stages, int stage);

/// The body with every read of `from` replaced.
ir::Expr replace_reads(const ir::Expr& body, const ir::BufferNode* from, const std::function<ir::Expr(const std::vector<ir::Expr>&)>& with);
/// The body of a stage with the definitions of inlined stages in place of reads of them.
ir::Expr whole_body(std::span<const Stage> stages, int stage);
/// Gives every stage its whole body.
void inline_stages(std::vector<Stage>& stages);

}  // namespace tw::schedule
