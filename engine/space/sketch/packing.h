// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

/// Constants in the order in which they are read. Their layout follows from the finished loops and the lengths of their splits, so it is decided when a schedule
/// is chosen, and is no part of what a search changes.
/// Source: layout rewrite of constant arguments in Ansor (Zheng et al., OSDI 2020).
namespace tw::space {

/// The schedule with each constant that one tiled reduction reads laid out as that walks it: a run of memory from the first iteration to the last.
schedule::Schedule with_packed_constants(schedule::Schedule s);
/// The steps without those that lay out constants at their end.
std::vector<schedule::Step> without_packing(const te::Dag& dag, std::vector<schedule::Step> steps);

}  // namespace tw::space
