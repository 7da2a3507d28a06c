// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>

#include <map>

#include "engine/learner/messages.h"

/// The networks as libtorch computes them, and their losses.
namespace tw::learner {

/// Threads of large products from now on; the rest is computed by the caller's alone.
void use_threads(int threads);

/// A network's tensors by name, those that are learned with gradients.
class Weights {
 public:
  /// `values` has the network's number of elements.
  Weights(const Network& network, std::span<const float> values, bool learns);

  const Network& network() const { return network_; }
  const torch::Tensor& operator[](const std::string& name) const { return tensors_.at(name); }
  torch::Tensor& operator[](const std::string& name) { return tensors_.at(name); }
  std::vector<torch::Tensor> learned() const;
  std::vector<float> values() const;

 private:
  const Network& network_;
  std::map<std::string, torch::Tensor> tensors_;
};

/// Some candidates as tensors.
struct Batch {
  int64_t candidates = 0;
  torch::Tensor statements, owners;        ///< rows of the network's statement, and the candidate of each
  torch::Tensor patterns, pattern_owners;  ///< [with one, kPatternRows, kPatternColumns], and their candidates
};
/// Those that `which` numbers.
Batch make_batch(const Network& network, const Candidates& all, std::span<const uint32_t> which);

enum class Norm : uint8_t {
  learn,  ///< by the batch, whose statistics are kept
  batch,  ///< by the batch
  kept    ///< by what was kept
};
/// One score for each.
torch::Tensor forward(Weights& w, const Batch& batch, Norm norm);

/// Of scores, labels and tasks; pairs of one task alone unless `across_tasks`. Sources: Burges et al., "From RankNet to LambdaRank to LambdaMART" (2010) with weights of
/// NDCG over whole lists, RankNet (ICML 2005), Cao et al., "Learning to rank: from pairwise approach to listwise approach" (ICML 2007).
torch::Tensor loss_of(Loss loss, const torch::Tensor& scores, const torch::Tensor& labels, const torch::Tensor& tasks, bool across_tasks);

}  // namespace tw::learner
