// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

namespace tw::lower {

/// The stages of a schedule as they are lowered: every array has its scope, inlined stages are written into those that read them, tests of paddings are left out
/// where the surplus may be computed like the rest, and so are those at the end of a last block: the padding of an argument in blocks may hold anything, so that
/// a kernel may write there, and read there what decides nothing. Errors: illegal_schedule where a later step broke what an earlier one needs, or where
/// inlining makes an expression too large.
Expected<std::vector<schedule::Stage>> prepared_stages(const schedule::Schedule& s);

}  // namespace tw::lower
