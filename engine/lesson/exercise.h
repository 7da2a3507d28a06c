// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/base/stop_token.h"

/// Loop programs (tir/print.h) that a learner mends.
namespace tw::lesson {

/// Runs `text` and `solution` on the same seeded inputs in the interpreter, the threads of a block in several orders, and compares the outputs.
/// Errors: parse_error with line and column of `text`; wrong_result for a race, threads that part before a barrier, reads and writes outside an array, and for
/// outputs that differ; resource_limit for arrays of more than 4 MiB together; invalid_argument for other parameters than the solution's; timeout after five
/// seconds; cancelled. An error of the solution itself is `internal`.
Expected<void> run_exercise(const std::string& text, const std::string& solution, const StopToken& stop = {});

}  // namespace tw::lesson
