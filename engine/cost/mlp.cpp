// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/mlp.h"

#include <algorithm>

#include "engine/learner/matmul.h"

namespace tw::cost {
namespace {

constexpr size_t kWide = learner::kHidden;

/// What is left of a gradient by a layer that cut what is negative.
void mask(std::vector<float>& gradient, const std::vector<float>& result) {
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = result[i] > 0 ? gradient[i] : 0;
}

/// What `gradient` of a layer's result is of its input.
std::vector<float> layer_gradient(std::vector<float> gradient, const std::vector<float>& result, const learner::PackedMatrix& layer) {
  mask(gradient, result);
  const size_t rows = gradient.size() / kWide;
  std::vector<float> out(rows * layer.columns());
  layer.multiply(rows, {gradient.data(), kWide}, out.data(), layer.columns());
  return out;
}

void add(std::vector<float>& to, const std::vector<float>& what) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

}  // namespace

Mlp::Mlp(const learner::Network& network, std::vector<float> weights)
    : NetworkScores(network, std::move(weights)),
      encoder_(*this, "segment_encoder", "normaliser.rows", 0, 0, network.statement),
      l0_(kWide, kWide, {part("l0.weight"), kWide}),
      l1_(kWide, kWide, {part("l1.weight"), kWide}),
      layer0_(kWide, network.statement, {part("segment_encoder.0.weight"), network.statement}),
      layer1_(kWide, kWide, {part("segment_encoder.2.weight"), kWide}) {}

Mlp::Values Mlp::sums(const Encoder::Said& said, size_t candidates) {
  Values out(candidates * kWide, 0);
  for (size_t i = 0; i < said.rows.size(); ++i)
    for (size_t c = 0; c < kWide; ++c) out[said.owners[i] * kWide + c] += said.second[i * kWide + c];
  return out;
}

Mlp::Values Mlp::some(const FeatureMatrix& x, size_t begin, size_t end) const { return head(sums(encoder_(x, begin, end), end - begin)); }

void Mlp::by_numbers(const FeatureMatrix& x, const Encoder::Said& said, Values gradient, size_t candidates, Values& out) const {
  const float* scale = part("normaliser.rows");
  const size_t columns = network().columns, statement = network().statement, first = network().first(), rows = said.rows.size();
  mask(gradient, said.first);
  const auto put = [&](size_t row, size_t column, float g) { out[said.rows[row] * columns + first + column] = g / scale[column]; };
  if (x.fixed().empty() || network().kinds) {
    Values found(rows * statement);
    layer0_.multiply(rows, {gradient.data(), kWide}, found.data(), statement);
    for (size_t i = 0; i < rows; ++i)
      for (size_t c = 0; c < statement; ++c) put(i, c, found[i * statement + c]);
    return;
  }
  const float* weight = part("segment_encoder.0.weight");
  for (size_t row = 0, place = 0; row < rows; row += candidates, ++place) {
    std::vector<size_t> open;  // columns
    for (size_t c = 0; c < statement; ++c)
      if (!x.fixed()[place * statement + c]) open.push_back(c);
    Values some(kWide * open.size()), found(candidates * open.size());
    for (size_t k = 0; k < kWide; ++k)
      for (size_t n = 0; n < open.size(); ++n) some[k * open.size() + n] = weight[k * statement + open[n]];
    learner::matmul(candidates, open.size(), kWide, {&gradient[row * kWide], kWide}, {some.data(), open.size()}, found.data(), open.size());
    for (size_t i = 0; i < candidates; ++i)
      for (size_t n = 0; n < open.size(); ++n) put(row + i, open[n], found[i * open.size() + n]);
  }
}

Mlp::Scored Mlp::scored(const FeatureMatrix& x) const {
  const float* decoder = part("decoder.weight");
  Scored out{{}, Values(x.rows() * network().columns, 0.0F)};
  for (size_t begin = 0; begin < x.candidates(); begin += kAtOnce) {
    const size_t end = std::min(x.candidates(), begin + kAtOnce);
    const Encoder::Said said = encoder_(x, begin, end);
    Values added0, added1;
    const Values scores = head(sums(said, end - begin), &added0, &added1);
    out.scores.insert(out.scores.end(), scores.begin(), scores.end());
    Values g;
    for (size_t c = begin; c < end; ++c) g.insert(g.end(), decoder, decoder + kWide);
    add(g, layer_gradient(g, added1, l1_));
    add(g, layer_gradient(g, added0, l0_));
    Values rows;
    for (const size_t owner : said.owners) rows.insert(rows.end(), g.begin() + static_cast<std::ptrdiff_t>(owner * kWide), g.begin() + static_cast<std::ptrdiff_t>((owner + 1) * kWide));
    by_numbers(x, said, layer_gradient(std::move(rows), said.second, layer1_), end - begin, out.gradient);
  }
  return out;
}

}  // namespace tw::cost
