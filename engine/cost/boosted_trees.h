// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/expected.h"

namespace tw::cost {

/// Rows of features, padded with zeros to the longest.
class FeatureMatrix {
 public:
  explicit FeatureMatrix(std::span<const std::vector<float>> rows);
  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  const float* data() const { return data_.data(); }

 private:
  size_t rows_ = 0, columns_ = 0;
  std::vector<float> data_;
};

enum class Loss : uint8_t { rank, regression };

struct BoostingOptions {
  Loss loss = Loss::rank;
  int max_rounds = 8000;
  int patience = 20;    ///< rounds without a better average recall of the training data after which fitting ends
  int recall_top = 64;  ///< of that recall
  int max_depth = 3;
  double eta = 0.3;     ///< learning rate
  double gamma = 1e-4;  ///< least gain of a split
  double min_child_weight = 1, lambda = 1, alpha = 0;
  uint64_t seed = 0;
};

/// Gradient boosted regression trees. Fitted from scratch on one thread, so that the result does not depend on the machine's cores; predictions use the rounds
/// up to the best recall.
/// Source: Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016; losses, defaults and the stopping rule of AutoTVM 0.9's XGBTuner.
class BoostedTrees {
 public:
  /// `scores`: one per row, higher is better. Errors: invalid_argument for no rows or columns, internal with XGBoost's own words.
  /// `margins`: what another model says of each row, to which the trees add; none: they start from nothing.
  static Expected<BoostedTrees> fit(const FeatureMatrix& x, std::span<const double> scores, const BoostingOptions& options,
                                    std::span<const float> margins = {});
  /// One score per row, higher is better; their scale means nothing with Loss::rank. Columns that the model has not seen are ignored, missing ones are zero.
  /// A model that was fitted with margins needs them here too.
  Expected<std::vector<float>> predict(const FeatureMatrix& x, std::span<const float> margins = {}) const;
  int rounds() const;  ///< that predictions use
  double training_recall() const;

  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;
  ~BoostedTrees();

 private:
  struct Impl;
  explicit BoostedTrees(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::cost
