// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/kernel_plan.h"

namespace tw::api {

/// Takes kernels out of the plan that would only copy bytes from one array to another in the same order:
/// - a reshape of a row-major array, or one that takes blocks apart between two of them: both arrays become one;
/// - a concatenation whose operands follow each other in memory: their producers write into the result (PlannedArray::base);
/// - a slice of consecutive bytes: its readers read them where they are.
/// Parts start at multiples of 64 bytes, as kernels expect. Inputs, outputs and constants of the network keep memory of their own.
/// Arrays that nothing uses any more are dropped.
void elide_copies(const graph::Graph& g, const graph::Partition& p, KernelPlan& plan);

}  // namespace tw::api
