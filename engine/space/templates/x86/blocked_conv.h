// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/templates/x86/tiles.h"

/// Direct convolution over blocks of channels, of any rank and number of groups: what AutoTVM's templates of it share.
namespace tw::space::x86 {

struct BlockedTile {
  int64_t ic = 1, oc = 1;         ///< channels of a block; no block crosses groups
  int64_t rows = 1, columns = 1;  ///< of the register tile
  bool unroll_kw = false;         ///< the columns of the window are written out
};

/// Widths of input and result as AutoTVM's knobs see them: it computes the width without the dilation.
int64_t knob_columns(const te::Dag& dag, const cpu::Anchor& a);

/// Fused blocks and rows outside, in parallel; a tile of pixels times a block of output channels in registers; blocks of input channels, the window and the
/// channels of a block around it.
Expected<schedule::Schedule> blocked_conv_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Target& target, const BlockedTile& tile);

}  // namespace tw::space::x86
