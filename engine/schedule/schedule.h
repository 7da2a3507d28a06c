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
  int step = -1;        ///< schedule step that made or annotated it
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

struct Stage {
  te::Op op;
  std::vector<Iter> iters;          ///< loops, outermost first; empty for placeholders
  std::vector<Relation> relations;  ///< in the order they were applied
  ComputeLocation location = ComputeLocation::root;
  int at_stage = -1;                ///< for ComputeLocation::at
  std::optional<ir::Var> at_iter;
  int at_step = -1;
  ir::Scope scope = ir::Scope::global;
  std::vector<LayoutStep::Piece> layout;  ///< empty means row-major
};

/// A schedule: dag + steps, as an immutable value. The stages are derived state.
class Schedule {
 public:
  explicit Schedule(te::DagPtr dag);

  const te::DagPtr& dag() const { return dag_; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Stage>& stages() const { return stages_; }
  const std::vector<int>& outputs() const { return outputs_; }  ///< stage indices
  int find(std::string_view stage_name) const;                  ///< -1 if there is none

  /// This schedule with one more step. Errors: illegal_schedule or invalid_argument, naming step and stage.
  Expected<Schedule> apply(const Step& step) const;
  /// Replays a list of steps on a dag.
  static Expected<Schedule> replay(te::DagPtr dag, const std::vector<Step>& steps);

 private:
  friend struct Editor;
  te::DagPtr dag_;
  std::vector<Step> steps_;
  std::vector<Stage> stages_;
  std::vector<int> outputs_;
};

/// Human-readable list of the steps with stage and loop names: one line a step, for the code view.
std::string print_steps(const Schedule& s);
/// The loop nest as an outline, one line a loop.
std::string print_loops(const Schedule& s);

}  // namespace tw::schedule
