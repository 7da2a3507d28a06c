// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/mlp.h"

#include <algorithm>

#include "engine/learner/matmul.h"

namespace tw::cost {
namespace {

constexpr size_t kWide = learner::kHidden;

/// What is left of a gradient by a layer that cut what is negative.
void mask(std::vector<float>& gradient, const std::vector<float>& result) {
  float* const to = gradient.data();
  const float* const of = result.data();
  for (size_t i = 0, n = gradient.size(); i < n; ++i) {
    const float kept = to[i];  // read in any case: half of the branches would be foreseen wrongly
    to[i] = of[i] > 0 ? kept : 0;
  }
}

/// What `gradient` of a layer's result is of its input, into `out`.
void through_layer(std::vector<float>& gradient, const std::vector<float>& result, const learner::PackedMatrix& layer, std::vector<float>& out) {
  mask(gradient, result);
  const size_t rows = gradient.size() / kWide;
  out.resize(rows * layer.columns());
  layer.multiply(rows, {gradient.data(), kWide}, out.data(), layer.columns());
}

void add(std::vector<float>& to, const std::vector<float>& what) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

/// The first layer's weights as gradients of numbers that were not normalised go through them.
std::vector<float> over_scale(const float* weight, const float* scale, size_t columns) {
  std::vector<float> out(kWide * columns);
  for (size_t i = 0; i < out.size(); ++i) out[i] = weight[i] / scale[i % columns];
  return out;
}

}  // namespace

Mlp::Mlp(const learner::Network& network, std::vector<float> weights)
    : NetworkScores(network, std::move(weights)),
      encoder_(*this, "segment_encoder", "normaliser.rows", 0, 0, network.statement),
      numbers_(over_scale(part("segment_encoder.0.weight"), part("normaliser.rows"), network.statement)),
      l0_(kWide, kWide, {part("l0.weight"), kWide}),
      l1_(kWide, kWide, {part("l1.weight"), kWide}),
      layer0_(kWide, network.statement, {numbers_.data(), network.statement}),
      layer1_(kWide, kWide, {part("segment_encoder.2.weight"), kWide}) {}

Mlp::Room& Mlp::room() {
  static thread_local Room own;
  return own;
}

void Mlp::add_up(Room& room, size_t candidates) {
  const Encoder::Said& said = room.said;
  room.sums.assign(candidates * kWide, 0);
  for (size_t i = 0; i < said.rows.size(); ++i)
    for (size_t c = 0; c < kWide; ++c) room.sums[said.owners[i] * kWide + c] += said.second[i * kWide + c];
}

Mlp::Values Mlp::some(const FeatureMatrix& x, size_t begin, size_t end) const {
  Room& own = room();
  encoder_(x, begin, end, own.said);
  add_up(own, end - begin);
  return head(own.sums, own.added0, own.added1);
}

void Mlp::by_numbers(const FeatureMatrix& x, Room& room, size_t candidates, Values& out) const {
  const Encoder::Said& said = room.said;
  Values &gradient = room.by_rows, &found = room.more;
  const size_t columns = network().columns, statement = network().statement, first = network().first(), rows = said.rows.size();
  mask(gradient, said.first);
  if (x.fixed().empty() || network().kinds) {
    found.resize(rows * statement);
    layer0_.multiply(rows, {gradient.data(), kWide}, found.data(), statement);
    for (size_t i = 0; i < rows; ++i)
      for (size_t c = 0; c < statement; ++c) out[said.rows[i] * columns + first + c] = found[i * statement + c];
    return;
  }
  std::vector<size_t> open;  // columns
  Values some;
  for (size_t row = 0, place = 0; row < rows; row += candidates, ++place) {
    open.clear();
    for (size_t c = 0; c < statement; ++c)
      if (!x.fixed()[place * statement + c]) open.push_back(c);
    if (open.empty()) continue;
    some.resize(kWide * open.size());
    found.resize(candidates * open.size());
    for (size_t k = 0; k < kWide; ++k)
      for (size_t n = 0; n < open.size(); ++n) some[k * open.size() + n] = numbers_[k * statement + open[n]];
    learner::matmul(candidates, open.size(), kWide, {&gradient[row * kWide], kWide}, {some.data(), open.size()}, found.data(), open.size());
    for (size_t i = 0; i < candidates; ++i)
      for (size_t n = 0; n < open.size(); ++n) out[said.rows[row + i] * columns + first + open[n]] = found[i * open.size() + n];
  }
}

Mlp::Scored Mlp::scored(const FeatureMatrix& x) const {
  const float* decoder = part("decoder.weight");
  Room& own = room();
  Scored out{{}, Values(x.rows() * network().columns, 0.0F)};
  for (size_t begin = 0; begin < x.candidates(); begin += kAtOnce) {
    const size_t end = std::min(x.candidates(), begin + kAtOnce);
    encoder_(x, begin, end, own.said);
    add_up(own, end - begin);
    const Values scores = head(own.sums, own.added0, own.added1);
    out.scores.insert(out.scores.end(), scores.begin(), scores.end());
    Values& g = own.by_sums;
    g.clear();
    for (size_t c = begin; c < end; ++c) g.insert(g.end(), decoder, decoder + kWide);
    for (const auto& [added, layer] : {std::pair(&own.added1, &l1_), std::pair(&own.added0, &l0_)}) {
      own.by_rows = g;
      through_layer(own.by_rows, *added, *layer, own.more);
      add(g, own.more);
    }
    own.more.clear();
    for (const size_t owner : own.said.owners) own.more.insert(own.more.end(), g.begin() + static_cast<std::ptrdiff_t>(owner * kWide), g.begin() + static_cast<std::ptrdiff_t>((owner + 1) * kWide));
    through_layer(own.more, own.said.second, layer1_, own.by_rows);
    by_numbers(x, own, end - begin, out.gradient);
  }
  return out;
}

}  // namespace tw::cost
