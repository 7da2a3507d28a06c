// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/mlp.h"

#include <algorithm>

#include "engine/learner/matmul.h"

namespace tw::cost {
namespace {

constexpr size_t kWide = learner::kHidden;

/// What `gradient` of a layer's result is of its input.
std::vector<float> layer_gradient(std::vector<float> gradient, const std::vector<float>& result, const float* weight, size_t columns) {
  for (size_t i = 0; i < gradient.size(); ++i)
    if (!(result[i] > 0)) gradient[i] = 0;
  const size_t rows = gradient.size() / kWide;
  std::vector<float> out(rows * columns);
  learner::matmul(rows, columns, kWide, {gradient.data(), kWide}, {weight, columns}, out.data(), columns);
  return out;
}

void add(std::vector<float>& to, const std::vector<float>& what) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

}  // namespace

Mlp::Mlp(const learner::Network& network, std::vector<float> weights)
    : NetworkScores(network, std::move(weights)), encoder_(*this, "segment_encoder", "normaliser.rows", 0, 0, network.statement) {}

Mlp::Values Mlp::sums(const Encoder::Said& said, size_t candidates) {
  Values out(candidates * kWide, 0);
  for (size_t i = 0; i < said.rows.size(); ++i)
    for (size_t c = 0; c < kWide; ++c) out[said.owners[i] * kWide + c] += said.second[i * kWide + c];
  return out;
}

Mlp::Values Mlp::some(const FeatureMatrix& x, size_t begin, size_t end) const { return head(sums(encoder_(x, begin, end), end - begin)); }

Mlp::Scored Mlp::scored(const FeatureMatrix& x) const {
  const float *decoder = part("decoder.weight"), *scale = part("normaliser.rows");
  const size_t columns = network().columns, statement = network().statement, first = network().first();
  Scored out{{}, std::vector<float>(x.rows() * columns, 0.0F)};
  for (size_t begin = 0; begin < x.candidates(); begin += kAtOnce) {
    const size_t end = std::min(x.candidates(), begin + kAtOnce);
    const Encoder::Said said = encoder_(x, begin, end);
    Values added0, added1;
    const Values scores = head(sums(said, end - begin), &added0, &added1);
    out.scores.insert(out.scores.end(), scores.begin(), scores.end());
    Values g;
    for (size_t c = begin; c < end; ++c) g.insert(g.end(), decoder, decoder + kWide);
    add(g, layer_gradient(g, added1, part("l1.weight"), kWide));
    add(g, layer_gradient(g, added0, part("l0.weight"), kWide));
    Values rows;
    for (const size_t owner : said.owners) rows.insert(rows.end(), g.begin() + static_cast<std::ptrdiff_t>(owner * kWide), g.begin() + static_cast<std::ptrdiff_t>((owner + 1) * kWide));
    rows = layer_gradient(std::move(rows), said.second, part("segment_encoder.2.weight"), kWide);
    rows = layer_gradient(std::move(rows), said.first, part("segment_encoder.0.weight"), statement);
    for (size_t i = 0; i < said.rows.size(); ++i)
      for (size_t c = 0; c < statement; ++c) out.gradient[said.rows[i] * columns + first + c] = rows[i * statement + c] / scale[c];
  }
  return out;
}

}  // namespace tw::cost
