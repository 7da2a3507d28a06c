// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engine/schedule/schedule.h"

/// Kernels of several stages that are computed piece by piece: softmax, norms, sums and what follows them.
namespace tw::space::rules {

/// One computed stage and which of its axes are the output's.
struct Member {
  int stage;
  std::vector<int> axis_of;  ///< per axis of the output: the axis of this stage that must equal it, or negative
};

/// The stages of a kernel with one output, and the output's axes that all of them are computed along, element by element.
struct Members {
  int output = -1;
  std::vector<Member> members;  ///< the output last
  std::vector<bool> shared;     ///< per axis of the output; at least one
};

/// Nothing for kernels of several outputs, with layouts, of a single stage without reduction, or without an axis in common. Inlined stages are no members.
/// `apart`: stages that are computed as a whole beforehand, and count as inputs here.
std::optional<Members> find_members(const schedule::Builder& b, const std::vector<const ir::BufferNode*>& apart);

/// The loops of a stage, sorted by what they are for.
struct MemberLoops {
  std::vector<ir::Var> shared, own, reduce;
  std::vector<te::Axis> own_axes;
};
MemberLoops loops_of(const schedule::Builder& b, const Member& m, const Members& all);

/// The output's reduction moves into a cache beside the others; the output becomes the copy out of it.
void cache_output(schedule::Builder& b, Members& m);

}  // namespace tw::space::rules
