// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/lower/loop_nest.h"
#include "engine/tir/print.h"

namespace tw::api {

/// The forms that a kernel passes through, from the graph to the machine.
enum class Level : uint8_t {
  node,           ///< index in Graph::nodes; known where the kernel is one of a network
  stage,          ///< index in Schedule::stages()
  step,           ///< index in Schedule::steps()
  loop,           ///< 0-based line of the outline of loops: stages, their loops, what is done inside
  tir_line,       ///< 0-based line of the printed function after all passes: loops, stores, branches, allocations
  llvm_line,      ///< 0-based line of the listing
  assembly_line,  ///< 0-based line of the listing
  sass_line,      ///< 0-based line of the listing; only of GPUs
};

/// Which part of a kernel at one level belongs to which at another. A value.
/// - An inlined stage belongs to the lines of the stages that it was inlined into.
/// - A step belongs to the loops and stages that it made or changed, as later steps left them, and through them to lines.
/// - A loop belongs to the loops and branches of the function that are it; one that was unrolled, vectorised or runs once has none and belongs to the stores
///   of its stage. A stage's name in the outline belongs to all its lines, the innermost line to those that are no loops.
/// - A line of machine code whose origin the compiler lost or merged belongs to nothing: nothing is guessed.
class Provenance {
 public:
  Provenance() = default;
  /// Per line of each listing, the line of the printed function that it is for.
  struct Listings {
    std::span<const int> llvm, assembly, sass = {};
  };
  /// `nodes_of_op`: per op of the dag, the graph nodes that it stands for; empty where no graph is known.
  Provenance(const schedule::Schedule& s, const lower::PrintedLoops& loops, const tir::Printed& tir, const Listings& listings,
             const std::vector<std::vector<int>>& nodes_of_op = {});

  /// What at level `to` belongs to `number` at level `from`: ascending, without repetition; empty if nothing does or there is no such number.
  /// Cost: linear in the lines passed through.
  std::vector<int> related(Level from, int number, Level to) const;

 private:
  /// Every level but tir_line has one neighbour nearer to tir_line: nodes have stages, steps have loops, all others have tir_line itself.
  struct Links {
    std::vector<std::vector<int>> inward, outward;
  };
  void add(Level outer, int number, int neighbour);

  std::array<Links, 8> links_;  ///< of each level to its neighbour
};

}  // namespace tw::api
