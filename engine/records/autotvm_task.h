// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/records/task.h"

namespace tw::records {

/// How AutoTVM names a computation: template and workload arguments.
struct AutotvmTask {
  std::string name;  ///< such as "conv2d_NCHWc.x86"; "tilewright.TAG" for what AutoTVM has no x86 template for
  Json args;         ///< such as [["TENSOR", [1, 64, 56, 56], "float32"], ..., [1, 1], ..., "float32"]
};

/// The name and arguments of a task, from the tagged op of its dag: dense, conv2d, depthwise_conv2d, grouped_conv2d and batch_matmul.
/// Fused elementwise operators are no part of an AutoTVM task, so several of our tasks may share one name.
AutotvmTask autotvm_task(const te::Dag& dag);

}  // namespace tw::records
