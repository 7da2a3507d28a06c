// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"
#include "engine/target/target.h"
#include "engine/tir/pass.h"
#include "engine/tir/stmt.h"

namespace tw::lower {

/// Turns a schedule into loops: infers the region each stage must compute, builds the nests, places buffers and guards.
/// The function's parameters are the placeholders, then the outputs, in their physical layouts. No pass has run yet.
/// Sums of 16-bit floats that the threads of a GPU keep in registers, or leave to the next launch, are float32, as is what a kernel computes from them before
/// it is stored.
/// Errors: illegal_schedule where a stage cannot be computed at its place.
Expected<tir::Func> lower(const schedule::Schedule& s, const std::string& name);

/// lower, then every pass of tir/.
Expected<tir::Func> lower_and_optimize(const schedule::Schedule& s, const std::string& name, const Target& target, const tir::PassHooks& hooks = {});

}  // namespace tw::lower
