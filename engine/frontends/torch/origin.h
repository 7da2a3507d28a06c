// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json_fwd.h"
#include "engine/graph/graph.h"

namespace tw::frontends {

/// Where a call stands: its module's path, and file and line of the model's code.
graph::Origin origin_of(const Json& metadata);
/// The same from the texts that PyTorch's exporters write: `nn_module_stack` and a trace of Python's stack.
graph::Origin origin_of(const std::string& module_stack, const std::string& stack_trace);

}  // namespace tw::frontends
