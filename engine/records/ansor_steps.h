// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

/// Steps as TVM numbers stages, and as we do. TVM's stages stand in the order of a walk from the outputs, each after what it reads, so that placeholders stand
/// among computations; ours begin with all placeholders. Both numberings grow as steps insert stages: equal codes do not mean equal steps.
/// Source: TVM v0.9.0, `ComputeDAG` and `State`.
namespace tw::records {

/// Ops of a dag in TVM's order.
std::vector<int> ansor_order(const te::Dag& dag);

/// TVM's steps as ours. Errors: invalid_argument for a stage that there is not, those of a step that is not legal, naming the step by its number.
Expected<std::vector<schedule::Step>> steps_from_ansor(const te::DagPtr& dag, const std::vector<schedule::Step>& steps);
/// Our steps as TVM's. Errors: unsupported for kinds of steps that TVM does not have.
Expected<std::vector<schedule::Step>> steps_to_ansor(const te::DagPtr& dag, const std::vector<schedule::Step>& steps);

}  // namespace tw::records
