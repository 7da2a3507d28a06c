// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/mlp.h"

#include <algorithm>

#include "engine/base/assert.h"
#include "engine/learner/matmul.h"

namespace tw::cost {
namespace {

using learner::kRowColumns;
using learner::kStatementColumns;

constexpr size_t kWide = learner::kHidden;
/// Candidates whose values stay in caches.
constexpr size_t kAtOnce = 128;

using Values = std::vector<float>;

/// x Wᵀ + b, negative ones cut to zero.
Values layer(const Values& x, size_t columns, const float* weight, const float* bias) {
  const size_t rows = x.size() / columns;
  Values y(rows * kWide);
  learner::matmul(rows, kWide, columns, {x.data(), columns}, {weight, columns, true}, y.data(), kWide);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < kWide; ++c) y[r * kWide + c] = std::max(0.0F, y[r * kWide + c] + bias[c]);
  return y;
}

/// What `gradient` of a layer's result is of its input.
Values layer_gradient(Values gradient, const Values& result, const float* weight, size_t columns) {
  for (size_t i = 0; i < gradient.size(); ++i)
    if (!(result[i] > 0)) gradient[i] = 0;
  const size_t rows = gradient.size() / kWide;
  Values out(rows * columns);
  learner::matmul(rows, columns, kWide, {gradient.data(), kWide}, {weight, columns}, out.data(), columns);
  return out;
}

void add(Values& to, const Values& what) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

}  // namespace

/// What a forward pass leaves behind.
struct Mlp::Pass {
  std::vector<size_t> rows, owners;  ///< statements: their rows, and their candidates counted from the first
  Values first, second;              ///< results of the encoder's layers
  Values added0, added1;             ///< of the residual ones
  Values last;
};

Mlp::Mlp(std::vector<float> weights) : weights_(std::move(weights)) { TW_ASSERT(weights_.size() == learner::mlp().elements(), "the network's weights"); }

Mlp::Pass Mlp::forward(const FeatureMatrix& x, size_t begin, size_t end) const {
  TW_ASSERT(x.columns() == kRowColumns, "rows of statements and patterns");
  Pass p;
  for (size_t c = begin; c < end; ++c)
    for (size_t r = x.begins()[c]; r < x.begins()[c + 1]; ++r)
      if (x.data()[r * kRowColumns] == 0) p.rows.push_back(r), p.owners.push_back(c - begin);
  Values input(p.rows.size() * kStatementColumns);
  const float* norm = part("normaliser.rows");
  for (size_t i = 0; i < p.rows.size(); ++i) {
    const float* row = x.data() + p.rows[i] * kRowColumns + 1;
    for (size_t c = 0; c < kStatementColumns; ++c) input[i * kStatementColumns + c] = row[c] / norm[c];
  }
  p.first = layer(input, kStatementColumns, part("segment_encoder.0.weight"), part("segment_encoder.0.bias"));
  p.second = layer(p.first, kWide, part("segment_encoder.2.weight"), part("segment_encoder.2.bias"));
  p.last.assign((end - begin) * kWide, 0);
  for (size_t i = 0; i < p.rows.size(); ++i)
    for (size_t c = 0; c < kWide; ++c) p.last[p.owners[i] * kWide + c] += p.second[i * kWide + c];
  p.added0 = layer(p.last, kWide, part("l0.weight"), part("l0.bias"));
  add(p.last, p.added0);
  p.added1 = layer(p.last, kWide, part("l1.weight"), part("l1.bias"));
  add(p.last, p.added1);
  return p;
}

std::vector<float> Mlp::scores(const FeatureMatrix& x) const {
  const float *weight = part("decoder.weight"), bias = *part("decoder.bias");
  std::vector<float> out(x.candidates());
  for (size_t begin = 0; begin < out.size(); begin += kAtOnce) {
    const size_t end = std::min(out.size(), begin + kAtOnce);
    const Pass p = forward(x, begin, end);
    for (size_t c = begin; c < end; ++c) {
      double sum = bias;
      for (size_t k = 0; k < kWide; ++k) sum += static_cast<double>(weight[k]) * p.last[(c - begin) * kWide + k];
      out[c] = static_cast<float>(sum);
    }
  }
  return out;
}

std::vector<float> Mlp::input_gradient(const FeatureMatrix& x) const {
  const float *decoder = part("decoder.weight"), *norm = part("normaliser.rows");
  std::vector<float> out(x.rows() * kRowColumns, 0.0F);
  for (size_t begin = 0; begin < x.candidates(); begin += kAtOnce) {
    const size_t end = std::min(x.candidates(), begin + kAtOnce);
    const Pass p = forward(x, begin, end);
    Values g;
    for (size_t c = begin; c < end; ++c) g.insert(g.end(), decoder, decoder + kWide);
    add(g, layer_gradient(g, p.added1, part("l1.weight"), kWide));
    add(g, layer_gradient(g, p.added0, part("l0.weight"), kWide));
    Values rows;
    for (const size_t owner : p.owners) rows.insert(rows.end(), g.begin() + static_cast<std::ptrdiff_t>(owner * kWide), g.begin() + static_cast<std::ptrdiff_t>((owner + 1) * kWide));
    rows = layer_gradient(std::move(rows), p.second, part("segment_encoder.2.weight"), kWide);
    rows = layer_gradient(std::move(rows), p.first, part("segment_encoder.0.weight"), kStatementColumns);
    for (size_t i = 0; i < p.rows.size(); ++i)
      for (size_t c = 0; c < kStatementColumns; ++c) out[p.rows[i] * kRowColumns + 1 + c] = rows[i * kStatementColumns + c] / norm[c];
  }
  return out;
}

}  // namespace tw::cost
