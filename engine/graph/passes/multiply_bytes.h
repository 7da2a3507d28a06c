// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/pass.h"

namespace tw::graph {

Expected<Graph> multiply_bytes(const Graph& g, const Target& target);

}  // namespace tw::graph
