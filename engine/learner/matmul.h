// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace tw::learner {

/// One matrix as it lies in memory, row by row; transposed: what is meant are its columns.
struct MatrixView {
  const float* data;
  size_t stride;  ///< elements from one stored row to the next
  bool transposed = false;
};

/// c = a b, or c += a b: `m` rows, `n` columns, sums of `k` products; `c` lies row by row, `stride` elements apart. One thread, with the widest vectors that the
/// processor has: what it says may differ in the last bits from one kind of processor to another. Zeros of `a` add nothing, whatever they meet.
void matmul(size_t m, size_t n, size_t k, MatrixView a, MatrixView b, float* c, size_t stride, bool add = false);

/// What is done to sums before they are stored.
struct Finish {
  const float* bias = nullptr;  ///< added, by column; null: nothing
  float least = -std::numeric_limits<float>::infinity();  ///< stands for what is less
};

/// A matrix on the right of many products, laid out once as they read it.
class PackedMatrix {
 public:
  /// `k` rows, `n` columns.
  PackedMatrix(size_t k, size_t n, MatrixView b);

  size_t rows() const { return k_; }
  size_t columns() const { return n_; }
  /// c = a times this, as matmul() says it.
  void multiply(size_t m, MatrixView a, float* c, size_t stride, const Finish& finish = {}) const;

 private:
  size_t k_, n_;
  std::vector<float> panels_;
};

}  // namespace tw::learner
