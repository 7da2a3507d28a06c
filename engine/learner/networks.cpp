// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/networks.h"

#include <cmath>

#include "engine/base/assert.h"
#include "engine/base/rng.h"

namespace tw::learner {
namespace {

/// A layer as both papers' code begins it: weights and biases uniform within one over the root of what it sums up.
void add_dense(std::vector<TensorSpec>& out, const char* weight, const char* bias, int64_t from, int64_t to) {
  const double bound = 1 / std::sqrt(static_cast<double>(from));
  out.push_back({weight, {to, from}, true, bound});
  out.push_back({bias, {to}, true, bound});
}

void add_encoder(std::vector<TensorSpec>& out, size_t columns) {
  const auto statement = static_cast<int64_t>(columns);
  out.push_back({"normaliser.rows", {statement}, false, 0, 1});
  out.push_back({"normaliser.rows_shift", {statement}, false});
  add_dense(out, "segment_encoder.0.weight", "segment_encoder.0.bias", statement, kHidden);
  add_dense(out, "segment_encoder.2.weight", "segment_encoder.2.bias", kHidden, kHidden);
}

void add_head(std::vector<TensorSpec>& out) {
  add_dense(out, "l0.weight", "l0.bias", kHidden, kHidden);
  add_dense(out, "l1.weight", "l1.bias", kHidden, kHidden);
  add_dense(out, "decoder.weight", "decoder.bias", kHidden, 1);
}

Network make_mlp() {
  Network n{"mlp", {}};
  add_encoder(n.tensors, n.statement);
  add_head(n.tensors);
  return n;
}

Network make_felix() {
  Network n{"felix", {}, kFelixRowColumns, kFelixRowColumns, false};
  add_encoder(n.tensors, n.statement);
  add_head(n.tensors);
  return n;
}

Network make_pam() {
  constexpr int64_t kStep = 64;
  Network n{"pam", {}};
  std::vector<TensorSpec>& t = n.tensors;
  add_encoder(t, n.statement);
  t.push_back({"normaliser.pattern", {kPatternColumns}, false, 0, 1});
  t.push_back({"normaliser.pattern_shift", {kPatternColumns}, false});
  add_dense(t, "gemm_encoder.0.weight", "gemm_encoder.0.bias", kPatternColumns, kStep);
  add_dense(t, "gemm_encoder.2.weight", "gemm_encoder.2.bias", kStep, kAttention);
  t.push_back({"attention.in_proj_weight", {3 * kAttention, kAttention}, true, std::sqrt(6.0 / (4 * kAttention))});
  t.push_back({"attention.in_proj_bias", {3 * kAttention}});
  t.push_back({"attention.out_proj.weight", {kAttention, kAttention}, true, 1 / std::sqrt(static_cast<double>(kAttention))});
  t.push_back({"attention.out_proj.bias", {kAttention}});
  add_dense(t, "fuse.0.weight", "fuse.0.bias", kHidden + kAttention, kHidden);
  t.push_back({"norm.weight", {kHidden}, true, 0, 1});
  t.push_back({"norm.bias", {kHidden}});
  t.push_back({"norm.running_mean", {kHidden}, false});
  t.push_back({"norm.running_var", {kHidden}, false, 0, 1});
  add_head(t);
  return n;
}

}  // namespace

size_t TensorSpec::elements() const {
  size_t n = 1;
  for (const int64_t d : shape) n *= static_cast<size_t>(d);
  return n;
}

size_t Network::parameters() const {
  size_t n = 0;
  for (const TensorSpec& t : tensors) n += t.learned ? t.elements() : 0;
  return n;
}

size_t Network::elements() const {
  size_t n = 0;
  for (const TensorSpec& t : tensors) n += t.elements();
  return n;
}

const TensorSpec& Network::tensor(std::string_view of) const {
  for (const TensorSpec& t : tensors)
    if (of == t.name) return t;
  TW_ASSERT(false, "a tensor of the network");
  return tensors.front();
}

size_t Network::offset(std::string_view of) const {
  size_t at = 0;
  for (const TensorSpec& t : tensors) {
    if (of == t.name) return at;
    at += t.elements();
  }
  TW_ASSERT(false, "a tensor of the network");
  return 0;
}

std::vector<float> Network::initial(uint64_t seed) const {
  Rng rng(seed);
  std::vector<float> out;
  for (const TensorSpec& t : tensors)
    for (size_t i = 0; i < t.elements(); ++i) out.push_back(t.bound > 0 ? static_cast<float>((2 * rng.uniform_real() - 1) * t.bound) : t.value);
  return out;
}

const Network& mlp() {
  static const Network kMlp = make_mlp();
  return kMlp;
}

const Network& pam() {
  static const Network kPam = make_pam();
  return kPam;
}

const Network& felix() {
  static const Network kFelix = make_felix();
  return kFelix;
}

const Network* find_network(std::string_view name) {
  for (const Network* n : {&mlp(), &pam(), &felix()})
    if (name == n->name) return n;
  return nullptr;
}

}  // namespace tw::learner
