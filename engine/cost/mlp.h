// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/cost/feature_matrix.h"
#include "engine/learner/networks.h"

namespace tw::cost {

/// TenSet's network in this process, so that a search waits for no other: 20,000 candidates a second and more on one core. Rows are those of features/pam.h; steps of
/// a pattern are passed over. One thread.
class Mlp {
 public:
  /// `weights` as learner::mlp() has them.
  explicit Mlp(std::vector<float> weights);

  /// One score for each candidate.
  std::vector<float> scores(const FeatureMatrix& x) const;
  /// How the score of its candidate changes with each number of each row: as large as the matrix, zeros for what the network does not see.
  std::vector<float> input_gradient(const FeatureMatrix& x) const;

  const std::vector<float>& weights() const { return weights_; }

 private:
  struct Pass;
  Pass forward(const FeatureMatrix& x, size_t begin, size_t end) const;
  const float* part(const char* tensor) const { return weights_.data() + learner::mlp().offset(tensor); }

  std::vector<float> weights_;
};

}  // namespace tw::cost
