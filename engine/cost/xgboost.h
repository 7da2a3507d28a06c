// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/expected.h"

/// XGBoost's C interface as values. Errors: internal with XGBoost's own words.
/// Source: Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
namespace tw::cost::xgboost {

/// XGBoost's copy of a matrix, with what belongs to its rows.
class Matrix {
 public:
  static Expected<Matrix> make(const float* data, size_t rows, size_t columns, int threads);
  Matrix(Matrix&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix();

  /// "label", "weight" or "base_margin": one value for each row.
  Expected<void> set(const char* field, std::span<const float> values);
  /// Neighbouring rows that are ranked among themselves.
  Expected<void> set_groups(std::span<const size_t> sizes);

 private:
  friend class Booster;
  explicit Matrix(void* handle) : handle_(handle) {}
  void* handle_;
};

class Booster {
 public:
  using Params = std::vector<std::pair<const char*, std::string>>;

  static Expected<Booster> make(const Matrix& train, const Params& params);
  /// What save() gave.
  static Expected<Booster> load(std::string_view bytes, const Params& params);
  Booster(Booster&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Booster& operator=(Booster&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Booster();

  Expected<std::string> save() const;
  Expected<int> rounds() const;
  /// The first so many rounds of this one, with other parameters.
  Expected<Booster> first(int rounds, const Params& params) const;
  /// One round more by the objective among the parameters.
  Expected<void> update(int round, const Matrix& train);
  /// One round more by gradients of our own: first and second derivative of the loss for each row.
  Expected<void> boost(const Matrix& train, std::vector<float>& first, std::vector<float>& second);
  /// One value for each row by the first `rounds` rounds (0: all); valid until the next call.
  Expected<std::span<const float>> predict(const Matrix& matrix, int rounds) const;

 private:
  explicit Booster(void* handle) : handle_(handle) {}
  Expected<void> set(const Params& params);
  void* handle_;
};

}  // namespace tw::cost::xgboost
