// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/worker_pool.h"
#include "engine/cost/feature_matrix.h"
#include "engine/learner/matmul.h"
#include "engine/learner/networks.h"

namespace tw::cost {

/// A network in this process, so that a search waits for no other, and needs none where nothing is fitted. Rows are as long as the network's.
class NetworkScores {
 public:
  /// `weights` as the network has them.
  NetworkScores(const learner::Network& network, std::vector<float> weights);
  virtual ~NetworkScores() = default;
  NetworkScores(const NetworkScores&) = delete;
  NetworkScores& operator=(const NetworkScores&) = delete;

  /// One score for each candidate, the same however many `workers` there are; null: this thread alone.
  std::vector<float> scores(const FeatureMatrix& x, WorkerPool* workers = nullptr) const;

  const std::vector<float>& weights() const { return weights_; }

 protected:
  using Values = std::vector<float>;

  /// A layer with its weights laid out once. What it says goes to `y`, which keeps its memory from one call to the next.
  class Layer {
   public:
    Layer(const NetworkScores& of, const std::string& weight, const std::string& bias);
    /// Rows of its inputs to rows of its outputs.
    void operator()(const Values& x, Values& y) const;
    /// The same, with zero for what is negative.
    void cut(const Values& x, Values& y) const;
    /// That of so many rows, with another bias than its own.
    void cut(size_t rows, const float* x, const float* bias, float* y) const { weight_.multiply(rows, {x, weight_.rows()}, y, weight_.columns(), {bias, 0}); }

   private:
    void computed(const Values& x, float least, Values& y) const;
    learner::PackedMatrix weight_;
    const float* bias_;
  };
  /// Rows of one kind through the two layers of their encoder, normalised.
  class Encoder {
   public:
    /// `kind`: the rows' first number, of networks whose rows tell it; `first`: where their columns begin after it; `each`: rows of a candidate, one with more or fewer is taken for one without; 0: any.
    Encoder(const NetworkScores& of, const std::string& name, const std::string& normaliser, float kind, size_t first, size_t columns, size_t each = 0);
    /// What both layers say of rows that were read: those of a candidate are in their order; where candidates may have any number of rows, all that stand first come first, so that neighbours are
    /// alike, and products with what is zero in all of them are left out.
    struct Said {
      std::vector<size_t> rows, owners;  ///< of the matrix; and their candidates, counted from `begin`
      Values input, first, second;
    };
    void operator()(const FeatureMatrix& x, size_t begin, size_t end, Said& out) const;

   private:
    /// What the first layer says of rows that are the same in some columns: what those add is worked out once.
    void first_of(const FeatureMatrix& x, size_t candidates, Said& said) const;

    const learner::Network& network_;
    const float *scale_, *shift_;
    float kind_;
    size_t first_, columns_, each_;
    Layer layer0_, layer1_;
  };

  const float* part(const std::string& tensor) const { return weights_.data() + network_.offset(tensor); }
  /// Both residual layers and the last one: a score for each row of kHidden numbers, which stay with what was added. `added`: what each of the two added.
  Values head(Values& h, Values& added0, Values& added1) const;

  /// Candidates whose values stay in caches.
  static constexpr size_t kAtOnce = 128;

  const learner::Network& network() const { return network_; }

 private:
  virtual Values some(const FeatureMatrix& x, size_t begin, size_t end) const = 0;

  const learner::Network& network_;
  const std::vector<float> weights_;
  Layer l0_, l1_;
};

std::unique_ptr<NetworkScores> make_network(const learner::Network& network, std::vector<float> weights);

}  // namespace tw::cost
