// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/schedule/schedule.h"
#include "engine/target/target.h"

/// Sketches: schedules whose structure is decided by rules that look at what stages read, and whose numbers are still open.
/// Source: Zheng et al., "Ansor: generating high-performance tensor programs", OSDI 2020; order and conditions of the rules as in TVM 0.9.
namespace tw::space {

/// Parallel pieces for each core: with more of them there is nothing to gain.
inline constexpr int64_t kPiecesPerCore = 16;

struct SketchOptions {
  /// Of tiles, outermost first: S stands for all spatial loops of a level, R for all loops of the reduction.
  std::string cpu_structure = "SSRSRS", gpu_structure = "SSSRRSRS";
  bool exact = false;  ///< as TVM 0.9 does it, also where that loses
};

/// What a rule did.
struct RuleUse {
  const char* rule;
  std::string stage;
  friend bool operator==(const RuleUse&, const RuleUse&) = default;
};

/// A stage that was tiled in several levels.
struct TiledStage {
  std::string stage;
  std::vector<int> splits;  ///< steps, of its spatial axes in their order
  int inner = -1;           ///< of those the one whose last loop is the innermost of all; -1: it has no axes
  friend bool operator==(const TiledStage&, const TiledStage&) = default;
};

/// A schedule without its numbers. A value: its steps are a legal schedule in which every open length is 1.
struct Sketch {
  te::DagPtr dag;
  std::vector<schedule::Step> steps;
  std::vector<int> open;        ///< splits among the steps whose lengths are to be chosen, ascending
  std::vector<TiledStage> tiled;
  bool whole = false;            ///< open lengths divide their loops: no iteration may be surplus
  std::vector<RuleUse> derived;  ///< the rules that made it, in their order; those that leave a stage as it is are not named
};

/// All sketches of a computation, in the order in which the rules find them. Never empty.
std::vector<Sketch> sketches(const te::DagPtr& dag, const Target& target, const SketchOptions& options = {});

}  // namespace tw::space
