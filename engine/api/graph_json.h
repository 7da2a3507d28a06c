// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"

namespace tw::api {

/// A compiled network in the JSON that TVM's graph executor reads (nodes, arg_nodes, heads, node_row_ptr, attrs), with TVM's names of operators:
/// what viewers and scripts for such files expect. Constants are inputs `p0`, `p1`, ...; arrays have the extents that they have in memory.
/// A kernel's `symbol` is its name in the object file, whose calling convention is that of runtime/kernel.h and not TVM's.
/// Source: graph_executor.cc of TVM 0.9.
Json graph_executor_json(const Network& network, const runtime::Executable& e);

}  // namespace tw::api
