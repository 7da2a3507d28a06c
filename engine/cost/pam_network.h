// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/network_scores.h"

namespace tw::cost {

/// Pruner's network, with its batch normalisation by what it saw when it learned.
class PamNetwork : public NetworkScores {
 public:
  /// `weights` as learner::pam() has them.
  explicit PamNetwork(std::vector<float> weights);

 private:
  Values some(const FeatureMatrix& x, size_t begin, size_t end) const override;
  /// Attention of each of a candidate's steps to all of them, added to the steps; summed over them into `kAttention` numbers.
  Values attended(const Values& steps) const;

  Encoder statements_, steps_;
  Layer asked_, answered_, fuse_;
  Values scale_, shift_;  ///< batch normalisation as one product and one sum
};

}  // namespace tw::cost
