// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/records/task.h"

namespace tw::records {

/// How AutoTVM names a computation: templates and workload arguments.
struct AutotvmTask {
  std::vector<std::string> names;  ///< of its templates for the target, such as "dense_pack.x86" and "dense_nopack.x86"; empty if it has none
  Json args;                       ///< such as [["TENSOR", [1, 64, 56, 56], "float32"], ..., [1, 1], ..., "float32"]; without a template the placeholders
};

/// The names and arguments of a task, from the tagged op of its dag: dense, convolutions in one to three dimensions, with channels last for GPUs too, and
/// batch_matmul. Fused elementwise operators are no part of an AutoTVM task, so several of our tasks may share one name.
AutotvmTask autotvm_task(const te::Dag& dag, const Target& target);

/// A logged name and its arguments as one text, the same for all spellings of a workload: a product with a transposed second operand is the same computation as
/// one without, booleans are numbers, and an absent output type is that of the first operand.
std::string workload_text(const std::string& name, const Json& args);
/// Whether a logged name and its arguments mean `task`.
bool same_workload(const AutotvmTask& task, const std::string& name, const Json& args);

}  // namespace tw::records
