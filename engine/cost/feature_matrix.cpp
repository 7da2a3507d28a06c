// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/feature_matrix.h"

#include <algorithm>

namespace tw::cost {
namespace {

/// Copies rows of one length into rows of another.
void copy_rows(const float* from, size_t from_columns, float* to, size_t to_columns, size_t rows) {
  const size_t shared = std::min(from_columns, to_columns);
  for (size_t r = 0; r < rows; ++r) std::copy_n(from + r * from_columns, shared, to + r * to_columns);
}

std::vector<const FeatureRows*> addresses(std::span<const FeatureRows> candidates) {
  std::vector<const FeatureRows*> out;
  for (const FeatureRows& c : candidates) out.push_back(&c);
  return out;
}

}  // namespace

FeatureMatrix::FeatureMatrix(std::span<const FeatureRows> candidates) : FeatureMatrix(addresses(candidates)) {}

FeatureMatrix::FeatureMatrix(std::span<const FeatureRows* const> candidates) {
  for (const FeatureRows* c : candidates) {
    TW_ASSERT(c->count > 0 && c->values.size() % c->count == 0, "rows of equal length, one at least");
    columns_ = std::max(columns_, c->columns());
    begins_.push_back(begins_.back() + c->count);
  }
  data_.assign(rows() * columns_, 0.0F);
  for (size_t i = 0; i < candidates.size(); ++i)
    copy_rows(candidates[i]->values.data(), candidates[i]->columns(), data_.data() + begins_[i] * columns_, columns_, candidates[i]->count);
}

FeatureMatrix::FeatureMatrix(std::vector<float> rows, size_t candidates, size_t each) : data_(std::move(rows)) {
  TW_ASSERT(candidates * each > 0 && data_.size() % (candidates * each) == 0, "rows of equal length, one at least");
  columns_ = data_.size() / (candidates * each);
  for (size_t c = 1; c <= candidates; ++c) begins_.push_back(c * each);
}

void FeatureMatrix::fix(std::vector<char> fixed) {
  TW_ASSERT(candidates() == 0 || fixed.size() * candidates() == rows() * columns_, "every number of a candidate is fixed or not");
  fixed_ = std::move(fixed);
}

FeatureMatrix FeatureMatrix::with_columns(size_t columns) const {
  FeatureMatrix out;
  out.columns_ = columns;
  out.begins_ = begins_;
  out.data_.assign(rows() * columns, 0.0F);
  copy_rows(data_.data(), columns_, out.data_.data(), columns, rows());
  return out;
}

}  // namespace tw::cost
