// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The neural networks by their tensors, in the one order in which both sides of the channel, model files and the code that computes have them.
namespace tw::learner {

struct TensorSpec {
  const char* name;
  std::vector<int64_t> shape;
  bool learned = true;  ///< by gradients; others are statistics of the data
  /// Bound of the uniform numbers that it begins with; 0: it begins with `value`.
  double bound = 0;
  float value = 0;

  size_t elements() const;
};

/// Rows of statements, as `engine/cost/features/pam.h` has them: what it is, 174 numbers of a statement, 23 of a step of a tiled product.
inline constexpr size_t kStatementColumns = 174, kPatternColumns = 23, kPatternRows = 8;
inline constexpr size_t kRowColumns = 1 + kStatementColumns + kPatternColumns;
/// Rows of statements as `engine/cost/features/felix.h` has them, and nothing else.
inline constexpr size_t kFelixRowColumns = 154;

struct Network {
  const char* name;
  std::vector<TensorSpec> tensors;
  size_t columns = kRowColumns;           ///< of a row
  size_t statement = kStatementColumns;   ///< those of a statement among them
  bool kinds = true;                      ///< a row's first number says what it is: 0 a statement; otherwise every row is one

  /// Where a statement's numbers begin in its row.
  size_t first() const { return kinds ? 1 : 0; }
  size_t parameters() const;  ///< learned numbers
  size_t elements() const;    ///< all numbers
  /// Where a tensor begins among them. The name is one of its tensors'.
  size_t offset(std::string_view tensor) const;
  const TensorSpec& tensor(std::string_view name) const;
  /// What it begins with: the same seed, the same numbers.
  std::vector<float> initial(uint64_t seed) const;
};

/// TenSet's: each row through two layers, their sum through two residual ones, one score. Source: Zheng et al., "TenSet", NeurIPS Datasets and Benchmarks 2021.
const Network& mlp();
/// Pruner's, which beside the rows sees the eight steps of a tiled product through attention. Source: Qiao et al., "Pruner", arXiv 2402.02361.
const Network& pam();
/// Felix's: TenSet's over 154 numbers of a statement. Source: Zhao et al., "Felix", ASPLOS 2024.
const Network& felix();
const Network* find_network(std::string_view name);

/// Heads of the attention, elements that pass it, and what batch normalisation adds to a variance.
inline constexpr int64_t kHeads = 4, kAttention = 128, kHidden = 256;
inline constexpr double kNormEpsilon = 1e-5, kNormMomentum = 0.1;

}  // namespace tw::learner
