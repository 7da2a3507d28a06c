// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/schedule/schedule.h"

namespace tw::space {

/// The space of candidates that are schedules of sketches: points of none, told apart by what they compute.
inline constexpr const char* kSketchSpace = "sketch";

/// What was chosen in a schedule, by name, as the "entity" list of AutoTVM's lines: lengths of splits (STAGE.LOOP), stores up to which loops are written out
/// (STAGE.unroll), where stages are computed (STAGE.at) and parallel loops (STAGE.parallel). `sketch` is what it was drawn from, first in the list.
/// So whatever shows the knobs of templates shows these.
std::string choices_of(const schedule::Schedule& s, const std::string& sketch);
/// The `sketch` of such a list; empty if there is none.
std::string sketch_of(const std::string& choices);

}  // namespace tw::space
