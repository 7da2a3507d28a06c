// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/ops/support.h"

namespace tw::graph::ops {

/// Mean and 1 / sqrt(variance + epsilon) of x over some of its dimensions, in two passes: first the mean, then the mean of squared differences, so that
/// nothing cancels.
struct Moments {
  te::Tensor mean, inverse_deviation;  ///< of shape `outer`
};

/// `element` gives the position in x of element r, in `inner`, of the set that belongs to position s, in `outer`. Attribute `epsilon` is 1e-5 if absent.
Moments moments(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, const Dims& outer, const Dims& inner,
                const std::function<Indices(const Indices& s, const Indices& r)>& element);

/// Of x [N, C, spatial...] over groups of `per_group` channels, [N, C]: the same for all channels of a group. Each channel is summed up by itself first: images lie in
/// blocks of channels whose borders are not those of groups.
Moments moments_of_groups(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, int64_t per_group);

}  // namespace tw::graph::ops
