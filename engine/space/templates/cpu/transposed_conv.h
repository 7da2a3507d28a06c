// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"
#include "engine/space/templates/cpu/blocked.h"

/// Transposed convolution over [N, C, spatial...] in blocks of channels, of one to three dimensions, of all channels together or depthwise: what its templates
/// share. The sum goes over the taps that each output meets, so that no zeros are inserted.
namespace tw::space::cpu {

struct TransposedConv {
  Anchor anchor;
  int64_t batch, ic, oc;          ///< ic: input channels that an output adds up, 1 if depthwise
  std::vector<int64_t> spatial;   ///< extents of the result, outermost first
  int64_t stride_w;               ///< of the last dimension
  int64_t data_block, out_block;  ///< channels per block of the arrays
  bool depthwise;
  int64_t columns() const { return spatial.back(); }
  /// Vectors of output channels that share what they read.
  int64_t sharing() const { return depthwise ? 1 : blocks_for(oc, out_block); }
  /// Channels of a block of data that are added up.
  int64_t terms() const { return depthwise ? 1 : data_block; }
};

/// The convolution tagged `tag` if it has one group, or a group for each channel of data and result, and the result has channels enough for blocks.
std::optional<TransposedConv> find_transposed_conv(const te::Dag& dag, const Target& target, std::string_view tag);

ConfigSpace transposed_conv_space(const te::Dag& dag, const TransposedConv& c, const Target& target);
ConfigEntity transposed_conv_fallback(const te::Dag& dag, const TransposedConv& c, const Target& target);
Expected<schedule::Schedule> transposed_conv_apply(const te::DagPtr& dag, const TransposedConv& c, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::cpu
