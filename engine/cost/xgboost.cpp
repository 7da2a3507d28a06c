// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/xgboost.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <limits>

namespace tw::cost::xgboost {
namespace {

Expected<void> checked(int code) {
  if (code == 0) return {};
  return Error(ErrorCode::internal, fmt::format("XGBoost failed: {}", XGBGetLastError()));
}

}  // namespace

Expected<Matrix> Matrix::make(const float* data, size_t rows, size_t columns, int threads) {
  DMatrixHandle handle = nullptr;
  TW_CHECK(checked(XGDMatrixCreateFromMat_omp(data, rows, columns, std::numeric_limits<float>::quiet_NaN(), &handle, threads)));
  return Matrix(handle);
}

Matrix::~Matrix() {
  if (handle_ != nullptr) XGDMatrixFree(handle_);
}

Expected<void> Matrix::set(const char* field, std::span<const float> values) {
  return checked(XGDMatrixSetFloatInfo(handle_, field, values.data(), values.size()));
}

Expected<void> Matrix::set_groups(std::span<const size_t> sizes) {
  const std::vector<unsigned> counts(sizes.begin(), sizes.end());
  return checked(XGDMatrixSetUIntInfo(handle_, "group", counts.data(), counts.size()));
}

Booster::~Booster() {
  if (handle_ != nullptr) XGBoosterFree(handle_);
}

Expected<void> Booster::set(const Params& params) {
  for (const auto& [name, value] : params) TW_CHECK(checked(XGBoosterSetParam(handle_, name, value.c_str())));
  return {};
}

Expected<Booster> Booster::make(const Matrix& train, const Params& params) {
  Booster made(nullptr);
  const DMatrixHandle known = train.handle_;
  TW_CHECK(checked(XGBoosterCreate(&known, 1, &made.handle_)));
  TW_CHECK(made.set(params));
  return made;
}

Expected<Booster> Booster::load(std::string_view bytes, const Params& params) {
  Booster made(nullptr);
  TW_CHECK(checked(XGBoosterCreate(nullptr, 0, &made.handle_)));
  TW_CHECK(checked(XGBoosterLoadModelFromBuffer(made.handle_, bytes.data(), bytes.size())));
  TW_CHECK(made.set(params));
  return made;
}

Expected<std::string> Booster::save() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  TW_CHECK(checked(XGBoosterSaveModelToBuffer(handle_, R"({"format": "ubj"})", &size, &bytes)));
  return std::string(bytes, size);
}

Expected<int> Booster::rounds() const {
  int rounds = 0;
  TW_CHECK(checked(XGBoosterBoostedRounds(handle_, &rounds)));
  return rounds;
}

Expected<Booster> Booster::first(int rounds, const Params& params) const {
  Booster made(nullptr);
  TW_CHECK(checked(XGBoosterSlice(handle_, 0, rounds, 1, &made.handle_)));
  TW_CHECK(made.set(params));
  return made;
}

Expected<void> Booster::update(int round, const Matrix& train) { return checked(XGBoosterUpdateOneIter(handle_, round, train.handle_)); }

Expected<void> Booster::boost(const Matrix& train, std::vector<float>& first, std::vector<float>& second) {
  return checked(XGBoosterBoostOneIter(handle_, train.handle_, first.data(), second.data(), first.size()));
}

Expected<std::span<const float>> Booster::predict(const Matrix& matrix, int rounds) const {
  bst_ulong count = 0;
  const float* values = nullptr;
  TW_CHECK(checked(XGBoosterPredict(handle_, matrix.handle_, 0, static_cast<unsigned>(rounds), 0, &count, &values)));
  return std::span<const float>(values, count);
}

}  // namespace tw::cost::xgboost
