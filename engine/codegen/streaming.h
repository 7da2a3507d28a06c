// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "engine/codegen/index.h"
#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::codegen {

/// Bytes that come from memory and go there together.
constexpr int64_t kCacheLine = 64;

/// Outputs that are better written past the caches: written once, never read back, and so large that whoever reads them next finds them in memory anyway.
/// Each by itself exceeds half of the last-level cache, and all arrays of the function together exceed it. A line stored so is not fetched first.
std::unordered_set<const ir::BufferNode*> streamed_outputs(const tir::Func& f, const Target& target);

/// Inputs that are asked for before they are read, and how many bytes ahead: those too large for the last-level cache, by the same rule, those that exceed
/// the level-2 cache and are read once from end to end, as weights by a product of few rows, and those whose panels are `wide` (see panels.h).
std::unordered_map<const ir::BufferNode*, int64_t> inputs_ahead(const tir::Func& f, const std::unordered_set<const ir::BufferNode*>& wide,
                                                                const Target& target);

/// Names a place that is read, of a vector's first element where it is one (whose stride is given, 1 of scalars); nothing for one that counts every time.
using PlaceName = std::function<std::optional<std::string>(const LinearIndex& at, int64_t stride)>;
/// Bytes of an array that one run of a statement reads. Places of one name count once.
int64_t bytes_read(const tir::Stmt& s, const ir::BufferNode* buffer, const PlaceName& name);

}  // namespace tw::codegen
