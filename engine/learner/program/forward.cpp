// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/forward.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/learner/matmul.h"
#include "engine/base/worker_pool.h"

namespace tw::learner {
namespace {

using torch::Tensor;

/// Threads of our own that sleep when there is nothing to do: those of libtorch's OpenMP spin, which a machine that does other work meanwhile pays for.
std::unique_ptr<WorkerPool>& workers() {
  static std::unique_ptr<WorkerPool> all = std::make_unique<WorkerPool>(1);
  return all;
}

/// c[m x n] = a b, by blocks of rows.
void product(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, float* c) {
  constexpr int64_t kRows = 64;
  const int64_t parts = std::clamp<int64_t>(m / kRows, 1, workers()->threads()), each = (m + parts - 1) / parts;
  workers()->run(static_cast<size_t>(parts), [&](size_t part) {
    const int64_t begin = static_cast<int64_t>(part) * each, end = std::min(m, begin + each);
    MatrixView rows = a;
    rows.data += static_cast<size_t>(begin) * (a.transposed ? 1 : a.stride);
    if (begin < end) matmul(static_cast<size_t>(end - begin), static_cast<size_t>(n), static_cast<size_t>(k), rows, b, c + begin * n, static_cast<size_t>(n));
  });
}

MatrixView view(const Tensor& t, bool transposed = false) { return {t.data_ptr<float>(), static_cast<size_t>(t.size(1)), transposed}; }

/// x Wᵀ + b with our own product: what Debian's libtorch is linked with may be the reference BLAS, which is tens of times slower.
struct Dense : torch::autograd::Function<Dense> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& given, const Tensor& weight, const Tensor& bias) {
    const Tensor x = given.contiguous();
    ctx->save_for_backward({x, weight});
    Tensor y = torch::empty({x.size(0), weight.size(0)});
    product(x.size(0), weight.size(0), x.size(1), view(x), view(weight, true), y.data_ptr<float>());
    return y.add_(bias);
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx, const torch::autograd::tensor_list& gradients) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1];
    const Tensor g = gradients[0].contiguous();
    Tensor of_x, of_weight = torch::empty_like(weight);
    if (ctx->needs_input_grad(0)) {
      of_x = torch::empty_like(x);
      product(x.size(0), x.size(1), g.size(1), view(g), view(weight), of_x.data_ptr<float>());
    }
    product(g.size(1), x.size(1), x.size(0), view(g, true), view(x), of_weight.data_ptr<float>());
    return {of_x, of_weight, g.sum(0)};
  }
};

Tensor dense(const Weights& w, const std::string& layer, const Tensor& x) { return Dense::apply(x, w[layer + ".weight"], w[layer + ".bias"]); }

Tensor encoded(const Weights& w, const std::string& encoder, const Tensor& x) {
  return dense(w, encoder + ".2", dense(w, encoder + ".0", x).relu()).relu();
}

/// Attention of each of eight steps to all, added to the steps; summed over them.
Tensor attended(const Weights& w, const Tensor& steps) {
  const int64_t n = steps.size(0) / static_cast<int64_t>(kPatternRows), rows = kPatternRows, width = kAttention / kHeads;
  const Tensor all = Dense::apply(steps, w["attention.in_proj_weight"], w["attention.in_proj_bias"]).reshape({n, rows, 3, kHeads, width}).permute({2, 0, 3, 1, 4});
  const Tensor scores = all[0].matmul(all[1].transpose(-1, -2)) / std::sqrt(static_cast<double>(width));
  const Tensor mixed = scores.softmax(-1).matmul(all[2]).transpose(1, 2).reshape({n * rows, kAttention});
  return (dense(w, "attention.out_proj", mixed) + steps).reshape({n, rows, kAttention}).sum(1);
}

Tensor normalised(Weights& w, const Tensor& x, Norm norm) {
  // A batch of one says nothing of how candidates differ.
  const bool own = norm != Norm::kept && x.size(0) > 1;
  Tensor none;
  return torch::batch_norm(x, w["norm.weight"], w["norm.bias"], norm == Norm::batch && own ? none : w["norm.running_mean"],
                           norm == Norm::batch && own ? none : w["norm.running_var"], own, kNormMomentum, kNormEpsilon, false);
}

/// 1 where a pair may be compared.
Tensor mask_of(const Tensor& tasks, bool across_tasks) {
  const int64_t n = tasks.size(0);
  return across_tasks ? torch::ones({n, n}) : tasks.unsqueeze(0).eq(tasks.unsqueeze(1)).to(torch::kFloat);
}

/// The rank of each among those that it is compared with, from 1 on, the greatest first; of equal ones the earlier.
Tensor ranks(const Tensor& values, const Tensor& mask) {
  const Tensor order = torch::empty_like(values, torch::kLong);
  const Tensor sorted = torch::argsort(values, /*stable=*/true, 0, /*descending=*/true);
  order.scatter_(0, sorted, torch::arange(values.size(0), torch::kLong));
  const Tensor before = order.unsqueeze(0).lt(order.unsqueeze(1)).to(torch::kFloat);  // [i, j]: j stands before i
  return (before * mask).sum(1) + 1;
}

Tensor lambda_rank(const Tensor& s, const Tensor& y, const Tensor& mask) {
  constexpr double kLeast = 1e-10;
  const Tensor gains = torch::exp2(y) - 1;
  const Tensor discount = torch::log2(1 + ranks(s.detach(), mask));
  const Tensor best = mask.matmul((gains / torch::log2(1 + ranks(y, mask))).unsqueeze(1)).squeeze(1).clamp_min(kLeast);
  const Tensor gain = gains / best;
  const auto pairs = [](const Tensor& t) { return t.unsqueeze(1) - t.unsqueeze(0); };
  const Tensor weights = pairs(1 / discount).abs() * pairs(gain).abs();
  const Tensor right = torch::sigmoid(pairs(s)).clamp_min(kLeast).log2() * weights;
  const Tensor better = pairs(y).gt(0).to(torch::kFloat) * mask;
  return -(right.clamp_min(std::log2(kLeast)) * better).sum();
}

Tensor rank_net(const Tensor& s, const Tensor& y, const Tensor& mask) {
  const Tensor upper = torch::triu(mask, 1);
  const Tensor difference = s.unsqueeze(1) - s.unsqueeze(0), truth = (y.unsqueeze(1) - y.unsqueeze(0)).gt(0).to(torch::kFloat);
  return (torch::binary_cross_entropy_with_logits(difference, truth, {}, {}, at::Reduction::None) * upper).sum() / static_cast<double>(s.numel() * s.numel());
}

Tensor list_net(const Tensor& s, const Tensor& y, const Tensor& mask) {
  constexpr double kOut = -1e9;  // of a softmax
  const Tensor out = (1 - mask) * kOut;
  const auto softmax = [&](const Tensor& t) { return (t.unsqueeze(0) + out).log_softmax(1); };  // [i, j]: of j among the list of i
  const Tensor each = -(softmax(y).exp() * softmax(s)).sum(1);                                  // the list of i
  return (each / mask.sum(1)).sum();                                                            // each list once
}

}  // namespace

void use_threads(int threads) {
  at::set_num_threads(1);
  if (workers()->threads() != threads) workers() = std::make_unique<WorkerPool>(threads);
}

Weights::Weights(const Network& network, std::span<const float> values, bool learns) : network_(network) {
  size_t at = 0;
  for (const TensorSpec& t : network.tensors) {
    torch::Tensor one = torch::empty(t.shape);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), t.elements(), one.data_ptr<float>());
    at += t.elements();
    tensors_[t.name] = one.set_requires_grad(learns && t.learned);
  }
}

std::vector<torch::Tensor> Weights::learned() const {
  std::vector<torch::Tensor> out;
  for (const auto& t : network_.tensors)
    if (t.learned) out.push_back(tensors_.at(t.name));
  return out;
}

std::vector<float> Weights::values() const {
  std::vector<float> out;
  for (const auto& t : network_.tensors) {
    const torch::Tensor one = tensors_.at(t.name).detach().contiguous();
    out.insert(out.end(), one.data_ptr<float>(), one.data_ptr<float>() + one.numel());
  }
  return out;
}

Batch make_batch(const Network& network, const Candidates& all, std::span<const uint32_t> which) {
  const auto is_statement = [&](size_t row) { return !network.kinds || all.rows[row * network.columns] == 0; };
  std::vector<int64_t> owners, pattern_owners;
  std::vector<float> statements, patterns;
  for (size_t i = 0; i < which.size(); ++i) {
    std::vector<const float*> steps;
    for (size_t r = all.begins[which[i]]; r < all.begins[which[i] + 1]; ++r) {
      const float* row = &all.rows[r * network.columns] + network.first();
      if (is_statement(r)) {
        statements.insert(statements.end(), row, row + network.statement);
        owners.push_back(static_cast<int64_t>(i));
      } else {
        steps.push_back(row + kStatementColumns);
      }
    }
    if (steps.size() != kPatternRows) continue;
    for (const float* step : steps) patterns.insert(patterns.end(), step, step + kPatternColumns);
    pattern_owners.push_back(static_cast<int64_t>(i));
  }
  const auto rows = [](std::vector<float>& values, size_t columns) {
    return torch::from_blob(values.data(), {static_cast<int64_t>(values.size() / columns), static_cast<int64_t>(columns)}).clone();
  };
  return {static_cast<int64_t>(which.size()), rows(statements, network.statement), torch::tensor(owners, torch::kLong), rows(patterns, kPatternColumns),
          torch::tensor(pattern_owners, torch::kLong)};
}

torch::Tensor forward(Weights& w, const Batch& batch, Norm norm) {
  const Tensor rows = encoded(w, "segment_encoder", (batch.statements - w["normaliser.rows_shift"]) / w["normaliser.rows"]);
  Tensor h = torch::zeros({batch.candidates, kHidden}).index_add(0, batch.owners, rows);
  if (w.network().name == pam().name) {
    // Candidates without the pattern have none of this branch, where the original gives them the biases of its layers.
    Tensor g = torch::zeros({batch.candidates, kAttention});
    if (batch.pattern_owners.numel() > 0) g = g.index_add(0, batch.pattern_owners, attended(w, encoded(w, "gemm_encoder", (batch.patterns - w["normaliser.pattern_shift"]) / w["normaliser.pattern"])));
    h = normalised(w, dense(w, "fuse.0", torch::cat({h, g}, 1)).relu(), norm);
  }
  for (const char* layer : {"l0", "l1"}) h = dense(w, layer, h).relu() + h;
  return dense(w, "decoder", h).squeeze(1);
}

torch::Tensor loss_of(Loss loss, const Tensor& s, const Tensor& y, const Tensor& tasks, bool across_tasks) {
  if (loss == Loss::rmse) return torch::mse_loss(s.sigmoid(), y);
  if (loss == Loss::log_mse) return torch::mse_loss(s, y);
  const Tensor mask = mask_of(tasks, across_tasks);
  if (loss == Loss::lambda_rank) return lambda_rank(s, y, mask);
  return loss == Loss::rank_net ? rank_net(s, y, mask) : list_net(s, y, mask);
}

}  // namespace tw::learner
