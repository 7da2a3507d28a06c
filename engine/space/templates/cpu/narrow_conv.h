// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/template.h"
#include "engine/space/templates/cpu/blocked.h"

/// Convolution over [N, C, spatial...] to a few channels, such as an image, of one to three dimensions: what its templates share.
/// Vectors run along the input channels; their lanes are added up at the end.
namespace tw::space::cpu {

struct NarrowConv {
  Anchor anchor;
  int64_t batch, ic, oc;
  int64_t lanes;                 ///< channels per block of the data, and per vector
  int64_t vectors;               ///< multiply-adds of vectors for each result
  std::vector<int64_t> spatial;  ///< extents of the result, outermost first
  int64_t weight_bytes;
  std::vector<te::WindowLine> window;  ///< of padded images
  int64_t columns() const { return spatial.back(); }
  /// Whether padding may be tested where the image is read: zeros beside windows that are known.
  bool zero_padded() const { return anchor.pad >= 0 && !window.empty(); }
};

/// The convolution in one group tagged `tag`, if half a vector holds the results of a pixel and vectors along its channels are faster than
/// those along its results.
std::optional<NarrowConv> find_narrow_conv(const te::Dag& dag, const Target& target, std::string_view tag);

ConfigSpace narrow_conv_space(const te::Dag& dag, const NarrowConv& c, const Target& target);
ConfigEntity narrow_conv_fallback(const te::Dag& dag, const NarrowConv& c, const Target& target);
/// Whether loops by rule, whose vectors lie along lines, are faster, but for what a change of layout costs.
bool narrow_conv_rows_suit(const te::Dag& dag, const NarrowConv& c, const Target& target);
Expected<schedule::Schedule> narrow_conv_apply(const te::DagPtr& dag, const NarrowConv& c, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::cpu
