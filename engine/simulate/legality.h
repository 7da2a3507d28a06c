// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/target/gpu.h"
#include "engine/tir/stmt.h"

namespace tw::simulate {

/// Whether a GPU can launch what a lowered function asks for, before anything is compiled: threads and coordinates of a block, blocks of the grid, shared
/// memory (static and asked for), virtual threads, tensor cores, and registers as far as the local arrays of a thread decide them. Takes some microseconds.
/// Errors: resource_limit with what is asked for and what there is; those of tir::split_launches.
Expected<void> check_launches(const tir::Func& f, const target::Gpu& gpu);

}  // namespace tw::simulate
