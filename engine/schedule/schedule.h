// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "engine/schedule/step.h"
#include "engine/te/dag.h"

namespace tw::schedule {

/// One loop of a stage.
struct Iter {
  ir::Var var;          ///< identity; its name is the print hint, such as `i.o`
  int64_t extent;       ///< over the full domain; smaller where compute_at needs less
  te::AxisKind kind;
  Annotation annotation = Annotation::none;
};

/// How an iterator was made from others.
struct SplitRelation {
  ir::Var parent;
  std::vector<ir::Var> children;   ///< outer to inner
  std::vector<int64_t> lengths;    ///< of children[1..]
};
struct FuseRelation {
  std::vector<ir::Var> parents;    ///< outer to inner
  ir::Var child;
};
using Relation = std::variant<SplitRelation, FuseRelation>;

enum class ComputeLocation : uint8_t { root, inlined, at };

/// Gaps in an array: consecutive elements along dimension `dim` are s elements apart, s mod factor = offset.
struct Alignment {
  int dim;
  int64_t factor, offset;
};
/// An axis that was rounded up.
struct Padding {
  ir::Var axis;
  int64_t extent;  ///< before
};

struct Stage {
  te::Op op;
  int dag_op = -1;  ///< op of the dag that the stage computes, copies, or computes a part of
  std::vector<Iter> iters;          ///< loops, outermost first; empty for placeholders
  std::vector<Relation> relations;  ///< in the order they were applied
  ComputeLocation location = ComputeLocation::root;
  int at_stage = -1;                ///< for ComputeLocation::at
  std::optional<ir::Var> at_iter;
  ir::Scope scope = ir::Scope::global;
  std::vector<LayoutStep::Piece> layout;  ///< empty means row-major
  std::vector<Alignment> alignments;      ///< at most one a dimension
  std::vector<Padding> paddings;          ///< at most one an axis
  bool double_buffer = false;
  int pipeline = 0;                     ///< arrays in turn of a stage that is copied ahead; 0: it is not
  std::optional<ir::Var> warp_product;  ///< the loop from which on the tensor cores of a warp compute the stage
  int64_t auto_unroll = -1;             ///< stores up to which the loops here and inside are written out; -1: as around
  int64_t winograd = 0;  ///< m: the placeholder holds weights [O, I, taps...] with the last two dimensions of taps transformed by F(m, taps)
};

/// The derived state that primitives work on.
struct State {
  std::vector<Stage> stages;
  std::vector<int> outputs;  ///< stage indices
  std::vector<std::vector<int64_t>> splits = {};  ///< of each step so far: the extents of all but the outermost loop that a split made; none of other steps
};

/// A schedule: dag + steps, as an immutable value. The stages are derived state.
class Schedule {
 public:
  explicit Schedule(te::DagPtr dag);

  const te::DagPtr& dag() const { return dag_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Stage>& stages() const { return state_.stages; }
  const std::vector<int>& outputs() const { return state_.outputs; }  ///< stage indices
  int find(std::string_view stage_name) const;                        ///< -1 if there is none

  /// This schedule with one more step. Errors: illegal_schedule or invalid_argument, naming step and stage.
  Expected<Schedule> apply(const Step& step) const;
  /// The same in place. After an error the schedule is of no use.
  Expected<void> append(const Step& step);
  /// Replays a list of steps on a dag.
  static Expected<Schedule> replay(te::DagPtr dag, const std::vector<Step>& steps);

 private:
  te::DagPtr dag_;
  std::vector<Step> steps_;
  State state_;
};

/// Writes a schedule step by step for templates: stages and loops by name and handle instead of by index.
/// The first error sticks; later calls do nothing, and finish() returns it.
class Builder {
 public:
  explicit Builder(te::DagPtr dag) : schedule_(std::move(dag)) {}

  int stage(std::string_view name) const { return schedule_.find(name); }
  const Stage& at(int stage) const { return schedule_.stages()[static_cast<size_t>(stage)]; }
  int num_stages() const { return static_cast<int>(schedule_.stages().size()); }
  const std::vector<Stage>& all() const { return schedule_.stages(); }
  const std::vector<int>& outputs() const { return schedule_.outputs(); }
  /// Loop variables of a stage as they stand, outermost first.
  std::vector<ir::Var> loops(int stage) const;

  /// `lengths` are the inner extents, outer to inner; returns one more loop than that.
  std::vector<ir::Var> split(int stage, const ir::Var& loop, std::vector<int64_t> lengths);
  ir::Var fuse(int stage, const std::vector<ir::Var>& loops);
  void reorder(int stage, const std::vector<ir::Var>& order);
  void annotate(int stage, const ir::Var& loop, Annotation a);
  void vectorize(int stage, const ir::Var& loop) { annotate(stage, loop, Annotation::vectorize); }
  void unroll(int stage, const ir::Var& loop, bool in_text = false) { annotate(stage, loop, in_text ? Annotation::unroll_explicit : Annotation::unroll); }
  void parallel(int stage, const ir::Var& loop) { annotate(stage, loop, Annotation::parallel); }
  /// `thread` is one of the binding annotations.
  void bind(int stage, const ir::Var& loop, Annotation thread) { annotate(stage, loop, thread); }
  void compute_at(int stage, int target, const ir::Var& loop);
  void compute_inline(int stage) { apply(ComputeInlineStep{stage}); }
  /// Returns the new cache stage; `stage` itself moves up by one.
  int cache_write(int stage, const std::string& scope = "local");
  int cache_read(int stage, const std::vector<int>& readers, const std::string& scope = "local");
  /// Returns the new stage of partial results; `stage` itself moves up by one.
  int rfactor(int stage, const ir::Var& loop, int factor_axis = 0);
  void storage_align(int stage, const ir::Var& loop, int64_t factor, int64_t offset);
  void pad(int stage, const ir::Var& loop, int64_t factor);
  void double_buffer(int stage) { apply(DoubleBufferStep{stage}); }
  void pipeline(int stage, int arrays) { apply(PipelineStep{stage, arrays}); }
  void tensorize(int stage, const ir::Var& loop) { apply(TensorizeStep{stage, position(stage, loop)}); }
  /// Returns the first of the five new stages; `stage` itself moves up by five.
  int winograd(int stage, int64_t tile, bool flat = false);
  /// Returns the first of the three new stages; `stage` itself moves up by three.
  int im2col(int stage);
  /// The same with terms apart, rounded up; `term` is the loop of the reduction that is.
  int im2col(int stage, const ir::Var& term, int64_t pixels, int64_t filters, int64_t terms);
  void layout(int stage, std::vector<LayoutStep::Piece> pieces) { apply(LayoutStep{stage, std::move(pieces)}); }

  bool ok() const { return !error_; }
  Expected<Schedule> finish() &&;

 private:
  void apply(const Step& step);
  int position(int stage, const ir::Var& loop);

  Schedule schedule_;
  std::optional<Error> error_;
};

/// Human-readable steps with stage and loop names: one line a step, without its end.
std::vector<std::string> step_lines(const Schedule& s);
/// The same as a text, each line after its number unless whoever shows it numbers lines.
std::string print_steps(const Schedule& s, bool numbered = true);

/// What of the final stages a step made or changed.
struct StepEffect {
  std::vector<int> stages;                 ///< made, or moved, inlined, laid out otherwise
  std::vector<std::pair<int, int>> loops;  ///< (stage, index in Stage::iters): made, annotated, moved; for a loop that later steps took apart what became of it
};
/// One per step, ascending lists without repetition.
std::vector<StepEffect> step_effects(const Schedule& s);

}  // namespace tw::schedule
