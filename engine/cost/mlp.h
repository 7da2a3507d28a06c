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
    std::vector<float> gradient;  ///< how the score of its candidate changes with each number of each row: as large as the matrix, zeros for what the network does not see and what is fixed
  };
  Scored scored(const FeatureMatrix& x) const;

 private:
  Values some(const FeatureMatrix& x, size_t begin, size_t end) const override;

  /// What one thread works with, kept from one call to the next: a descent asks thousands of times, and memory that is new each time has to be cleared first.
  struct Room {
    Encoder::Said said;
    Values sums, added0, added1, by_sums, by_rows, more;
  };
  static Room& room();
  /// What the encoder said, summed up over the rows of each candidate.
  static void add_up(Room& room, size_t candidates);
  /// What `gradient` of the rows' encoder is of the numbers of their statements, into `out`, as large as the matrix.
  void by_numbers(const FeatureMatrix& x, Room& room, size_t candidates, Values& out) const;

  Encoder encoder_;
  const Values numbers_;  ///< the first layer's weights, over the scale of each number
  learner::PackedMatrix l0_, l1_, layer0_, layer1_;  ///< as gradients go through them
};

}  // namespace tw::cost
