// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/space/template.h"

namespace tw::bench {

/// A task with a space that is small enough to be measured exhaustively. The spaces are plain tilings without the rules that the real templates leave bad
/// points out by: what fits no register, is not unrolled or is not packed can be chosen, so good points are as rare as in the large spaces of real searches.
struct Recordable {
  const char* name;
  te::DagPtr (*dag)();
  space::Template plain;
};
std::span<const Recordable> recordables();

}  // namespace tw::bench
