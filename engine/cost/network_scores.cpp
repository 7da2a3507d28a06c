// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/network_scores.h"

#include <algorithm>
#include <limits>

#include "engine/base/assert.h"
#include "engine/cost/mlp.h"
#include "engine/cost/pam_network.h"

namespace tw::cost {

namespace {

learner::PackedMatrix packed_weight(const learner::TensorSpec& spec, const float* weight) {
  const auto outputs = static_cast<size_t>(spec.shape[0]), inputs = static_cast<size_t>(spec.shape[1]);
  return {inputs, outputs, {weight, inputs, true}};
}

}  // namespace

NetworkScores::Layer::Layer(const NetworkScores& of, const std::string& weight, const std::string& bias)
    : weight_(packed_weight(of.network_.tensor(weight), of.part(weight))), bias_(of.part(bias)) {}

void NetworkScores::Layer::computed(const Values& x, float least, Values& y) const {
  const size_t rows = x.size() / weight_.rows(), columns = weight_.columns();
  y.resize(rows * columns);
  weight_.multiply(rows, {x.data(), weight_.rows()}, y.data(), columns, {bias_, least});
}
void NetworkScores::Layer::operator()(const Values& x, Values& y) const { computed(x, -std::numeric_limits<float>::infinity(), y); }
void NetworkScores::Layer::cut(const Values& x, Values& y) const { computed(x, 0, y); }

NetworkScores::Encoder::Encoder(const NetworkScores& of, const std::string& name, const std::string& normaliser, float kind, size_t first, size_t columns,
                                size_t each)
    : network_(of.network_),
      scale_(of.part(normaliser)),
      shift_(of.part(normaliser + "_shift")),
      kind_(kind),
      first_(first),
      columns_(columns),
      each_(each),
      layer0_(of, name + ".0.weight", name + ".0.bias"),
      layer1_(of, name + ".2.weight", name + ".2.bias") {}

void NetworkScores::Encoder::operator()(const FeatureMatrix& x, size_t begin, size_t end, Said& out) const {
  out.rows.clear();
  out.owners.clear();
  const auto read = [&](size_t c, size_t r) {
    if (network_.kinds && x.data()[r * network_.columns] != kind_) return;
    out.rows.push_back(r);
    out.owners.push_back(c - begin);
  };
  if (each_ > 0) {
    for (size_t c = begin; c < end; ++c) {
      const size_t before = out.rows.size();
      for (size_t r = x.begins()[c]; r < x.begins()[c + 1]; ++r) read(c, r);
      if (out.rows.size() == before + each_) continue;
      out.rows.resize(before);
      out.owners.resize(before);
    }
  } else {
    size_t longest = 0;
    for (size_t c = begin; c < end; ++c) longest = std::max(longest, x.begins()[c + 1] - x.begins()[c]);
    for (size_t place = 0; place < longest; ++place)
      for (size_t c = begin; c < end; ++c)
        if (x.begins()[c] + place < x.begins()[c + 1]) read(c, x.begins()[c] + place);
  }
  out.input.resize(out.rows.size() * columns_);
  for (size_t i = 0; i < out.rows.size(); ++i) {
    const float* row = x.data() + out.rows[i] * network_.columns + network_.first() + first_;
    for (size_t c = 0; c < columns_; ++c) out.input[i * columns_ + c] = (row[c] - shift_[c]) / scale_[c];
  }
  if (x.fixed().empty() || network_.kinds)
    layer0_.cut(out.input, out.first);
  else
    first_of(x, end - begin, out);
  layer1_.cut(out.first, out.second);
}

void NetworkScores::Encoder::first_of(const FeatureMatrix& x, size_t candidates, Said& said) const {
  const size_t rows = said.input.size() / columns_;
  said.first.resize(rows * learner::kHidden);
  Values same(columns_), bias;
  for (size_t row = 0, place = 0; row < rows; row += candidates, ++place) {
    const char* const fixed = x.fixed().data() + place * columns_;
    for (size_t c = 0; c < columns_; ++c) same[c] = fixed[c] ? said.input[row * columns_ + c] : 0;
    for (size_t r = row; r < row + candidates; ++r)
      for (size_t c = 0; c < columns_; ++c) said.input[r * columns_ + c] = fixed[c] ? 0 : said.input[r * columns_ + c];
    layer0_(same, bias);
    layer0_.cut(candidates, &said.input[row * columns_], bias.data(), &said.first[row * learner::kHidden]);
  }
}

NetworkScores::NetworkScores(const learner::Network& network, std::vector<float> weights)
    : network_(network), weights_(std::move(weights)), l0_(*this, "l0.weight", "l0.bias"), l1_(*this, "l1.weight", "l1.bias") {
  TW_ASSERT(weights_.size() == network.elements(), "the network's weights");
}

NetworkScores::Values NetworkScores::head(Values& h, Values& added0, Values& added1) const {
  for (const auto& [layer, added] : {std::pair(&l0_, &added0), std::pair(&l1_, &added1)}) {
    layer->cut(h, *added);
    for (size_t i = 0; i < h.size(); ++i) h[i] += (*added)[i];
  }
  const float *weight = part("decoder.weight"), bias = *part("decoder.bias");
  Values out(h.size() / learner::kHidden);
  for (size_t c = 0; c < out.size(); ++c) {
    double sum = bias;
    for (size_t k = 0; k < learner::kHidden; ++k) sum += static_cast<double>(weight[k]) * h[c * learner::kHidden + k];
    out[c] = static_cast<float>(sum);
  }
  return out;
}

std::vector<float> NetworkScores::scores(const FeatureMatrix& x, WorkerPool* workers) const {
  TW_ASSERT(x.candidates() == 0 || x.columns() == network_.columns, "the network's rows");
  std::vector<float> out(x.candidates());
  const auto part_of = [&](size_t i) {
    const size_t begin = i * kAtOnce, end = std::min(out.size(), begin + kAtOnce);
    const Values said = some(x, begin, end);
    std::copy(said.begin(), said.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  const size_t parts = (out.size() + kAtOnce - 1) / kAtOnce;
  if (workers != nullptr) {
    workers->run(parts, part_of);
  } else {
    for (size_t i = 0; i < parts; ++i) part_of(i);
  }
  return out;
}

std::unique_ptr<NetworkScores> make_network(const learner::Network& network, std::vector<float> weights) {
  if (&network == &learner::pam()) return std::make_unique<PamNetwork>(std::move(weights));
  return std::make_unique<Mlp>(network, std::move(weights));
}

}  // namespace tw::cost
