// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/network_scores.h"

namespace tw::cost {

/// TenSet's network and Felix's, which see statements alone.
class Mlp : public NetworkScores {
 public:
  /// `network`: mlp() or felix(); `weights` as it has them.
  Mlp(const learner::Network& network, std::vector<float> weights);

  struct Scored {
    std::vector<float> scores;
    std::vector<float> gradient;  ///< how the score of its candidate changes with each number of each row: as large as the matrix, zeros for what the network does not see
  };
  Scored scored(const FeatureMatrix& x) const;

 private:
  Values some(const FeatureMatrix& x, size_t begin, size_t end) const override;
  /// What the encoder said, summed up over the rows of each candidate.
  static Values sums(const Encoder::Said& said, size_t candidates);

  Encoder encoder_;
};

}  // namespace tw::cost
