// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/codegen/index.h"
#include "engine/tir/launches.h"

namespace tw::codegen {

/// Of the coordinates of a launch and the variables of its loops.
Ranges kernel_ranges(const tir::Launch& launch);

/// Whether every value that index arithmetic comes by fits int.
bool indices_fit(const tir::Launch& launch, const Ranges& ranges);

}  // namespace tw::codegen
