// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/schedule/schedule.h"

namespace tw::lower {

/// What a line of the outline of loops speaks of.
struct LoopLine {
  enum class Kind : uint8_t {
    argument,  ///< an input or a constant
    inlined,   ///< a stage without loops of its own
    head,      ///< name of a stage, above its loops
    loop,
    body,  ///< what is done inside all loops of a stage
  };
  Kind kind = Kind::argument;
  int stage = -1;
  int loop = -1;  ///< index in Stage::iters; -1 for other lines
};
struct PrintedLoops {
  std::string text;
  std::vector<LoopLine> lines;  ///< per line
};
/// The loop nest as an outline, one line a loop, with the extents that lower() gives the loops: those of a stage that is computed inside a loop run over the region
/// that is needed there. A schedule that a later step made illegal has the extents of its steps.
PrintedLoops print_loops(const schedule::Schedule& s);

}  // namespace tw::lower
