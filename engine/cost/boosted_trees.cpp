// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/boosted_trees.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <string>

#include "engine/cost/recall.h"

namespace tw::cost {
namespace {

Expected<void> checked(int code) {
  if (code == 0) return {};
  return Error(ErrorCode::internal, fmt::format("XGBoost failed: {}", XGBGetLastError()));
}

/// XGBoost's copy of a matrix.
struct Matrix {
  DMatrixHandle handle = nullptr;
  ~Matrix() {
    if (handle != nullptr) XGDMatrixFree(handle);
  }
  Expected<void> load(const float* data, size_t rows, size_t columns) {
    return checked(XGDMatrixCreateFromMat_omp(data, rows, columns, std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  }
  Expected<void> set_margins(std::span<const float> margins) {
    if (margins.empty()) return {};
    return checked(XGDMatrixSetFloatInfo(handle, "base_margin", margins.data(), margins.size()));
  }
};

}  // namespace

FeatureMatrix::FeatureMatrix(std::span<const std::vector<float>> rows) : rows_(rows.size()) {
  for (const auto& row : rows) columns_ = std::max(columns_, row.size());
  data_.assign(rows_ * columns_, 0.0F);
  for (size_t r = 0; r < rows_; ++r) std::copy(rows[r].begin(), rows[r].end(), data_.begin() + static_cast<std::ptrdiff_t>(r * columns_));
}

struct BoostedTrees::Impl {
  BoosterHandle booster = nullptr;
  size_t columns = 0;
  int rounds = 0;
  double recall = 0;
  ~Impl() {
    if (booster != nullptr) XGBoosterFree(booster);
  }
  Expected<void> set(const char* name, const std::string& value) { return checked(XGBoosterSetParam(booster, name, value.c_str())); }
  Expected<std::span<const float>> predict(const Matrix& m, int use_rounds) const {
    bst_ulong count = 0;
    const float* values = nullptr;
    TW_CHECK(checked(XGBoosterPredict(booster, m.handle, 0, static_cast<unsigned>(use_rounds), 0, &count, &values)));
    return std::span<const float>(values, count);
  }
};

BoostedTrees::BoostedTrees(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;
BoostedTrees::~BoostedTrees() = default;

Expected<BoostedTrees> BoostedTrees::fit(const FeatureMatrix& x, std::span<const double> scores, const BoostingOptions& o, std::span<const float> margins) {
  TW_ASSERT(margins.empty() || margins.size() == x.rows(), "a margin for each row");
  if (x.rows() == 0 || x.columns() == 0 || x.rows() != scores.size()) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected features and a score for each of some candidates, found {} rows of {} and {} scores",
                                                          x.rows(), x.columns(), scores.size()));
  }
  Matrix train;
  TW_CHECK(train.load(x.data(), x.rows(), x.columns()));
  const std::vector<float> labels(scores.begin(), scores.end());
  TW_CHECK(checked(XGDMatrixSetFloatInfo(train.handle, "label", labels.data(), labels.size())));
  TW_CHECK(train.set_margins(margins));
  const auto group = static_cast<unsigned>(x.rows());
  if (o.loss == Loss::rank) TW_CHECK(checked(XGDMatrixSetUIntInfo(train.handle, "group", &group, 1)));

  auto impl = std::make_unique<Impl>();
  impl->columns = x.columns();
  TW_CHECK(checked(XGBoosterCreate(&train.handle, 1, &impl->booster)));
  const std::pair<const char*, std::string> params[] = {{"objective", o.loss == Loss::rank ? "rank:pairwise" : "reg:squarederror"},
                                                        {"max_depth", std::to_string(o.max_depth)},
                                                        {"eta", fmt::format("{}", o.eta)},
                                                        {"gamma", fmt::format("{}", o.gamma)},
                                                        {"min_child_weight", fmt::format("{}", o.min_child_weight)},
                                                        {"lambda", fmt::format("{}", o.lambda)},
                                                        {"alpha", fmt::format("{}", o.alpha)},
                                                        {"tree_method", "exact"},
                                                        {"nthread", "1"},
                                                        {"seed", std::to_string(o.seed & 0x7fffffff)},
                                                        {"verbosity", "0"}};
  for (const auto& [name, value] : params) TW_CHECK(impl->set(name, value));

  for (int round = 0; round < o.max_rounds && round < impl->rounds + o.patience; ++round) {
    TW_CHECK(checked(XGBoosterUpdateOneIter(impl->booster, round, train.handle)));
    TW_TRY(const std::span<const float> predicted, impl->predict(train, 0));
    const double recall = average_recall(scores, predicted, o.recall_top);
    if (round == 0 || recall > impl->recall) {
      impl->recall = recall;
      impl->rounds = round + 1;
    }
  }
  return BoostedTrees(std::move(impl));
}

Expected<std::vector<float>> BoostedTrees::predict(const FeatureMatrix& x, std::span<const float> margins) const {
  if (x.rows() == 0) return std::vector<float>();
  Matrix m;
  if (x.columns() == impl_->columns) {
    TW_CHECK(m.load(x.data(), x.rows(), x.columns()));
  } else {
    std::vector<float> fitted(x.rows() * impl_->columns, 0.0F);
    const size_t shared = std::min(x.columns(), impl_->columns);
    for (size_t r = 0; r < x.rows(); ++r) std::copy_n(x.data() + r * x.columns(), shared, fitted.data() + r * impl_->columns);
    TW_CHECK(m.load(fitted.data(), x.rows(), impl_->columns));
  }
  TW_CHECK(m.set_margins(margins));
  TW_TRY(const std::span<const float> values, impl_->predict(m, impl_->rounds));
  return std::vector<float>(values.begin(), values.end());
}

int BoostedTrees::rounds() const { return impl_->rounds; }
double BoostedTrees::training_recall() const { return impl_->recall; }

}  // namespace tw::cost
