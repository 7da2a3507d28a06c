// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "engine/space/template.h"
#include "engine/space/templates/cpu/blocked.h"
#include "engine/te/window.h"

/// Direct convolution over [N, C, spatial...] in blocks of channels, of any rank and number of groups: what its templates share.
/// Weights are packed ahead of time; a register tile of neighbouring pixels times vectors of output channels shares their loads.
namespace tw::space::cpu {

struct DirectConv {
  Anchor anchor;
  int64_t batch, groups, ic, oc;  ///< ic: input channels of one group
  std::vector<int64_t> spatial;   ///< extents of the result, outermost first
  int64_t data_block, out_block;  ///< channels per block of the arrays
  int64_t lanes;                  ///< of a vector of results: a block, or its parts that lie in one group each
  int64_t ic_block;               ///< channels of a block of data that one group reads together
  int64_t together;               ///< products of neighbouring channels in each term of the sum: several of bytes
  /// Vectors of output channels, and those of them that read the same data.
  int64_t vectors() const { return blocks_for(oc, lanes); }
  int64_t sharing() const { return groups == 1 ? vectors() : std::max<int64_t>(1, oc / groups / lanes); }
  /// Groups that have their outputs in one vector.
  int64_t groups_in_vector() const { return groups == 1 ? 1 : std::max<int64_t>(1, lanes * groups / oc); }
  /// Terms of the sum over what a group reads of a block together.
  int64_t terms() const { return ic_block / together; }
  int64_t columns() const { return spatial.back(); }
  int64_t rows() const { return spatial.size() > 1 ? spatial[spatial.size() - 2] : 1; }
  std::vector<te::WindowLine> window;  ///< of padded images
  /// Whether padding may be tested where the image is read: of float32, with zeros beside windows that are known.
  bool zero_padded() const { return anchor.pad >= 0 && together == 1 && !window.empty(); }
  /// Of the dimension so many from the last; null without a window or padding.
  const te::WindowLine* line(size_t from_last) const { return line_from(window, spatial.size(), from_last); }
};

/// The convolution tagged `tag` (one group where it has no attribute `groups`), in float32 or with `together` products of bytes in each term, if vectors of
/// output channels and groups fit into each other: a vector, which may be a half or a quarter of a block, lies in one group, or it holds a few whole ones whose
/// data lie in one block or in whole blocks.
std::optional<DirectConv> find_direct_conv(const te::Dag& dag, const Target& target, std::string_view tag, int64_t together = 1);

ConfigSpace direct_conv_space(const te::Dag& dag, const DirectConv& c, const Target& target);
ConfigEntity direct_conv_fallback(const te::Dag& dag, const DirectConv& c, const Target& target);
/// Whether few outputs leave so many lanes of blocks empty that loops by rule, whose vectors lie along lines, are faster, but for what a change of layout
/// costs.
bool direct_conv_rows_suit(const te::Dag& dag, const DirectConv& c, const Target& target);
Expected<schedule::Schedule> direct_conv_apply(const te::DagPtr& dag, const DirectConv& c, const Target& target, const ConfigEntity& e);

}  // namespace tw::space::cpu
