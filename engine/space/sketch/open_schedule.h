// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/space/sketch/draw.h"
#include "engine/space/sketch/sketch.h"

namespace tw::space {

/// A schedule of a sketch with its loops placed and marked and its numbers open, for searches that change nothing but numbers. They are those of numbers_of(steps), in
/// their order; what is neither in a group nor free is held at what it is.
struct OpenSchedule {
  /// Lengths of one split, whose product divides its loop.
  struct Group {
    int64_t extent;
    std::vector<int> numbers;
    friend bool operator==(const Group&, const Group&) = default;
  };
  /// Any power of two up to `most`: threads of stages without tiles, vectors, stores up to which loops are written out.
  struct Free {
    int number;
    int64_t most;
    friend bool operator==(const Free&, const Free&) = default;
  };
  te::DagPtr dag;
  std::vector<schedule::Step> steps;  ///< legal with the numbers that they have
  std::vector<Group> groups;
  std::vector<Free> free;

  /// The steps with other numbers.
  std::vector<schedule::Step> with_numbers(std::span<const int64_t> numbers) const;
};

/// One way to place and mark a sketch's loops: on GPUs as random_schedule() does it, on processors the outermost loops parallel and the innermost by vectors.
/// Errors: not_applicable, why a sketch has numbers that are no loops' alone; illegal_schedule where no legal numbers were found.
Expected<OpenSchedule> open_schedule(const Sketch& sketch, const Target& target);
/// What can be open in any schedule's steps: the same numbers in the same order, in groups where they divide their loops as they are.
OpenSchedule opened(const te::DagPtr& dag, std::vector<schedule::Step> steps);
/// Equal for computations whose stages differ in shapes, strides and borders alone: their sketches have the same structure.
uint64_t family_of(const te::Dag& dag);

}  // namespace tw::space
