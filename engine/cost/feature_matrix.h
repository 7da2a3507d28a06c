// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/cost/features/features.h"

namespace tw::cost {

/// The rows of some candidates, padded with zeros to the longest; those of one candidate are neighbours.
class FeatureMatrix {
 public:
  explicit FeatureMatrix(std::span<const FeatureRows* const> candidates);
  explicit FeatureMatrix(std::span<const FeatureRows> candidates);
  /// Candidates of `each` rows, one after the other.
  FeatureMatrix(std::vector<float> rows, size_t candidates, size_t each);

  size_t candidates() const { return begins_.size() - 1; }
  size_t rows() const { return begins_.back(); }
  size_t columns() const { return columns_; }
  const float* data() const { return data_.data(); }  ///< row by row
  /// The first row of each candidate, and one past the last row of all.
  std::span<const size_t> begins() const { return begins_; }
  bool one_row_each() const { return rows() == candidates(); }
  /// By the place of a row in its candidate and by column: whether it is the same in all candidates, so that nobody asks how scores change with it. Empty: nobody knows.
  std::span<const char> fixed() const { return fixed_; }
  /// Candidates have as many rows each.
  void fix(std::vector<char> fixed);
  /// The same with so many columns: cut, or padded with zeros.
  FeatureMatrix with_columns(size_t columns) const;

 private:
  FeatureMatrix() = default;

  size_t columns_ = 0;
  std::vector<size_t> begins_{0};
  std::vector<float> data_;
  std::vector<char> fixed_;
};

}  // namespace tw::cost
