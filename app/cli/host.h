// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/json_fwd.h"
#include "engine/target/target.h"

namespace tw::cli {

/// What a session stores of the machine: processor, cores, caches, kernel, governor, code generator.
Json host_description();
/// The same with the rate of arithmetic that its processors reach for a target, where that can be measured here.
Json host_with_peak(const Target& target);

/// Says so where code is for more threads than this process has processors, so that fewer run it than it is for.
void note_missing_processors(const Target& target);

/// First line of a small text file such as those in /proc and /sys; empty if there is none.
std::string first_line(const std::string& path);

}  // namespace tw::cli
