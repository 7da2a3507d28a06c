// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/pam_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tw::cost {
namespace {

constexpr size_t kHidden = learner::kHidden, kAttention = learner::kAttention, kHead = kAttention / learner::kHeads;
constexpr size_t kSteps = learner::kPatternRows;

/// A number for each step.
typedef float Steps __attribute__((vector_size(kSteps * sizeof(float))));

/// What a candidate's steps hear in one head: each asks all of them. `asked`: rows of what each asks, is asked by, and says.
void hear(const float* asked, size_t head, float* heard) {
  constexpr size_t kRow = 3 * kAttention;
  Steps keys[kHead];
  for (size_t c = 0; c < kHead; ++c)
    for (size_t j = 0; j < kSteps; ++j) keys[c][j] = asked[j * kRow + kAttention + head + c];
  for (size_t step = 0; step < kSteps; ++step) {
    const float* question = asked + step * kRow + head;
    Steps products = {};
    for (size_t c = 0; c < kHead; ++c) products += question[c] * keys[c];
    std::array<float, kSteps> weights{};
    for (size_t j = 0; j < kSteps; ++j) weights[j] = products[j] / std::sqrt(static_cast<float>(kHead));
    const float most = *std::max_element(weights.begin(), weights.end());
    float sum = 0;
    for (float& w : weights) w = std::exp(w - most), sum += w;
    for (size_t c = head; c < head + kHead; c += kSteps) {
      Steps said = {}, value;
      for (size_t j = 0; j < kSteps; ++j) {
        std::memcpy(&value, asked + j * kRow + 2 * kAttention + c, sizeof value);
        said += weights[j] / sum * value;
      }
      std::memcpy(heard + step * kAttention + c, &said, sizeof said);
    }
  }
}

}  // namespace

PamNetwork::PamNetwork(std::vector<float> weights)
    : NetworkScores(learner::pam(), std::move(weights)),
      statements_(*this, "segment_encoder", "normaliser.rows", 0, 0, learner::kStatementColumns),
      steps_(*this, "gemm_encoder", "normaliser.pattern", 1, learner::kStatementColumns, learner::kPatternColumns, kSteps),
      asked_(*this, "attention.in_proj_weight", "attention.in_proj_bias"),
      answered_(*this, "attention.out_proj.weight", "attention.out_proj.bias"),
      fuse_(*this, "fuse.0.weight", "fuse.0.bias"),
      scale_(kHidden),
      shift_(kHidden) {
  const float *mean = part("norm.running_mean"), *variance = part("norm.running_var"), *weight = part("norm.weight"), *bias = part("norm.bias");
  for (size_t c = 0; c < kHidden; ++c) {
    scale_[c] = static_cast<float>(weight[c] / std::sqrt(variance[c] + learner::kNormEpsilon));
    shift_[c] = bias[c] - mean[c] * scale_[c];
  }
}

PamNetwork::Values PamNetwork::attended(const Values& steps) const {
  Values asked, out;
  asked_(steps, asked);
  Values heard(steps.size());
  for (size_t row = 0; row * kAttention < steps.size(); row += kSteps)
    for (size_t head = 0; head < kAttention; head += kHead) hear(asked.data() + row * 3 * kAttention, head, heard.data() + row * kAttention);
  answered_(heard, out);
  for (size_t i = 0; i < out.size(); ++i) out[i] += steps[i];
  return out;
}

PamNetwork::Values PamNetwork::some(const FeatureMatrix& x, size_t begin, size_t end) const {
  constexpr size_t kBoth = kHidden + kAttention;
  Encoder::Said statements, steps;
  statements_(x, begin, end, statements);
  steps_(x, begin, end, steps);
  const Values mixed = attended(steps.second);
  Values both((end - begin) * kBoth, 0);
  const auto add = [&](const Encoder::Said& said, const Values& values, size_t columns, size_t at) {
    for (size_t i = 0; i < said.owners.size(); ++i)
      for (size_t c = 0; c < columns; ++c) both[said.owners[i] * kBoth + at + c] += values[i * columns + c];
  };
  add(statements, statements.second, kHidden, 0);
  add(steps, mixed, kAttention, kHidden);
  Values h, added0, added1;
  fuse_.cut(both, h);
  for (size_t c = 0; c < end - begin; ++c)
    for (size_t k = 0; k < kHidden; ++k) h[c * kHidden + k] = h[c * kHidden + k] * scale_[k] + shift_[k];
  return head(h, added0, added1);
}

}  // namespace tw::cost
