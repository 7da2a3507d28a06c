// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include "engine/space/access.h"
#include "engine/space/sketch/sketch.h"

/// Derivation of sketches: rules look at one stage after the other, the last one first, and each way to treat it goes on by itself.
namespace tw::space {

/// A sketch under way.
class SketchState {
 public:
  SketchState(const te::DagPtr& dag, const Target& target, const SketchOptions& options) : schedule_(dag), target_(&target), options_(&options) {}

  const schedule::Schedule& schedule() const { return schedule_; }
  const schedule::Stage& stage(int i) const { return schedule_.stages()[static_cast<size_t>(i)]; }
  const Target& target() const { return *target_; }
  const SketchOptions& options() const { return *options_; }
  Access access() const { return Access(schedule_.stages()); }

  bool is_output(int i) const;
  /// Whether tiles pay for a stage as it stands.
  bool needs_tiling(int i) const { return access().needs_tiling(i, options_->exact); }
  /// The only consumer if it computes element by element what the stage gives it, and can share its tiles; else -1.
  int matched_consumer(int i) const;
  /// Whether the stage computes for a copy that writes it out.
  bool is_cache_written(int i) const;
  /// Whether threads of a block reduce the stage, or one that is computed inside its loops, together.
  bool has_cross_thread_reduction(int i) const;
  /// How often its loops run that are spatial, or of its reduction.
  int64_t iterations(int i, te::AxisKind kind) const;
  /// A stage's split among the steps so far, or the one that a split of it follows; the first if there are several; -1: it has none.
  int split_of(int i) const;

  // One more step each. A step that does not apply is a bug of the rule: assertions.
  void apply(const schedule::Step& step);
  /// Splits a loop in `levels`, of lengths to be chosen. Returns the step's number.
  int open_split(int stage, int iter, int levels);
  /// The same with lengths that divide `extent`, which the loop's is rounded up to.
  int open_split(int stage, int iter, int levels, int64_t extent);
  /// Open lengths are drawn from those that leave no surplus.
  void keep_whole() { whole_ = true; }
  /// The lengths of this split are to be chosen.
  void open(int step) { open_.push_back(step); }
  int steps() const { return static_cast<int>(schedule_.steps().size()); }
  void tiled(TiledStage stage) { tiled_.push_back(std::move(stage)); }
  void note(const char* rule, const std::string& stage) { derived_.push_back({rule, stage}); }

  Sketch finish() const;

 private:
  schedule::Schedule schedule_;
  const Target* target_;
  const SketchOptions* options_;
  std::vector<int> open_;
  std::vector<TiledStage> tiled_;
  bool whole_ = false;
  std::vector<RuleUse> derived_;
};

enum class RuleFit : uint8_t {
  skip,           ///< not for this stage
  apply,          ///< one way to treat it; later rules have others
  apply_and_end,  ///< the only way that is left
};

/// A sketch with the stage that is looked at next, -1 if it is finished.
using Derived = std::vector<std::pair<SketchState, int>>;

/// One row of the table.
struct SketchRule {
  const char* name;
  bool cpu, gpu;  ///< what it is for
  RuleFit (*fits)(const SketchState& s, int stage);
  Derived (*apply)(const SketchState& s, int stage);
  const char* summary;  ///< one sentence
  bool silent = false;  ///< leaves the stage as it is: a sketch does not name it
};
/// In the order in which they are asked.
std::span<const SketchRule> sketch_rules();

/// Splits all loops of a stage by the structure of the target and orders them by levels; in the innermost the blocked axis comes last. Returns the splits of its
/// spatial axes.
std::vector<int> tile(SketchState& s, int stage);
/// The spatial axis whose neighbours lie side by side: that of the blocks which the stage is written out in, or by which it reads constants; -1: the last one.
int blocked_axis(const SketchState& s, int stage);
/// The second alone.
int axis_of_blocked_constants(const SketchState& s, int stage);
/// Whether a stage reads an image with its border as an array of its own, which a transform of its windows would copy again.
bool reads_border(const SketchState& s, int stage);
/// Splits a consumer's loops as the tiles, in `level` + 1 loops each, and orders them by levels.
void follow_tiling(SketchState& s, int consumer, const std::vector<int>& splits, int level);

}  // namespace tw::space
