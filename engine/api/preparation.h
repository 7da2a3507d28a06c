// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/param_schema.h"
#include "engine/graph/pass.h"

namespace tw::api {

/// What a person may choose of how a network is made ready for kernels. The command line and the workbench's form are built from it.
const ParamSchema& preparation_schema();
/// The graph passes for an object of such choices; absent ones have their defaults. Errors: those of resolve_params().
Expected<graph::PassHooks> passes_for(const Json& choices);

}  // namespace tw::api
