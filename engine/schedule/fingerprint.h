// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

namespace tw::schedule {

/// A hash of what a schedule computes in which order: its stages with their loops, where they are computed, and how their arrays lie. Lists of steps that come
/// to the same stages have the same one, such as one split in three and two splits after one another; names of loops and the order of steps do not count. The
/// same over runs and machines, never 0.
/// A loop is told by what of its axis it counts: (axis, elements per step, steps). A loop made of several axes counts elements of their product. Loops of one
/// step count only where a stage is computed in them.
/// Source: Ansor compares states by their printed loops; this also tells apart loops of equal extent over different axes.
uint64_t fingerprint(const Schedule& s);

}  // namespace tw::schedule
