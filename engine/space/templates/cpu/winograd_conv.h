// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"
#include "engine/space/templates/cpu/blocked.h"

/// Winograd's convolution with a 3x3 window over planes, alone or as those of a volume: what its templates share.
namespace tw::space::cpu {

struct WinogradConv {
  static constexpr int64_t kTaps = 3;
  Anchor anchor;
  size_t rank;  ///< of the result
  int64_t batch, ic, oc, oh, ow;
  int64_t planes, planes_in, plane_taps;  ///< of a volume: those of the result, those that are read, and those that one of the result is summed from; 1 without
  int64_t ic_block, oc_block;
  int64_t rows(int64_t m) const { return (oh + m - 1) / m; }
  int64_t columns(int64_t m) const { return (ow + m - 1) / m; }
  int64_t points(int64_t m) const { return (m + kTaps - 1) * (m + kTaps - 1); }
  /// Channels of the result with those that fill its last block.
  int64_t padded_oc() const { return blocks_for(oc, oc_block) * oc_block; }
  /// Bytes of the transformed weights.
  int64_t weight_bytes(int64_t m) const { return points(m) * ic * padded_oc() * plane_taps * 4; }
  /// Bytes between the stages for one row of tiles.
  int64_t row_bytes(int64_t m) const { return points(m) * columns(m) * (ic * planes_in + padded_oc() * planes) * 4; }
};

/// The convolution tagged `tag`, if its window is 3x3 over planes that are read without gaps, and its channels lie in blocks.
std::optional<WinogradConv> find_winograd_conv(const te::Dag& dag, const Target& target, std::string_view tag);

ConfigSpace winograd_conv_space(const WinogradConv& c, const Target& target);
/// None where direct convolution is as fast by rule.
ConfigEntity winograd_conv_fallback(const WinogradConv& c, const Target& target);
Expected<schedule::Schedule> winograd_conv_apply(const te::DagPtr& dag, const WinogradConv& c, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::cpu
