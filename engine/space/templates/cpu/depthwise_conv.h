// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"
#include "engine/space/templates/cpu/blocked.h"

/// Depthwise convolution over [N, C, spatial...] in blocks of channels, of one to three dimensions: what its templates share. With the window written out,
/// neighbouring taps and rows reuse inputs from registers.
namespace tw::space::cpu {

struct DepthwiseConv {
  Anchor anchor;
  std::vector<int64_t> out;   ///< shape of the result: N, C, spatial...
  std::vector<int64_t> taps;  ///< of the window, a number for each dimension
  int64_t block;              ///< channels of a block
  size_t spatial() const { return taps.size(); }
  int64_t columns() const { return out.back(); }
  int64_t rows() const { return spatial() > 1 ? out[out.size() - 2] : 1; }
  /// Taps that the window's last two dimensions have, which may be written out; those of a third one stay a loop.
  int64_t plane() const { return taps.back() * (spatial() > 1 ? taps[spatial() - 2] : 1); }
};

/// The convolution tagged `tag` if each channel of the data gives one of the result and there are enough for blocks.
std::optional<DepthwiseConv> find_depthwise_conv(const te::Dag& dag, const Target& target, std::string_view tag);

ConfigSpace depthwise_conv_space(const te::Dag& dag, const DepthwiseConv& c, const Target& target);
ConfigEntity depthwise_conv_fallback(const te::Dag& dag, const DepthwiseConv& c, const Target& target);
Expected<schedule::Schedule> depthwise_conv_apply(const te::DagPtr& dag, const DepthwiseConv& c, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::cpu
