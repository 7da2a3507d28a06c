// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// Outputs that are better written past the caches: written once, never read back, and so large that whoever reads them next finds them in memory anyway.
/// Each by itself exceeds half of the last-level cache, and all arrays of the function together exceed it. A line stored so is not fetched first.
std::unordered_set<const ir::BufferNode*> streamed_outputs(const tir::Func& f, const Target& target);

/// Inputs too large for the last-level cache, by the same rule: their reads are known long before they arrive.
std::unordered_set<const ir::BufferNode*> inputs_from_memory(const tir::Func& f, const Target& target);

}  // namespace tw::codegen
