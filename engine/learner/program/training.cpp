// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/training.h"

#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "engine/base/rng.h"

namespace tw::learner {
namespace {

void shuffle(std::span<uint32_t> order, Rng& rng) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.uniform(i)]);
}

/// The candidates in batches; a last one of a single candidate goes with the one before, since normalisation needs two. Pairs of one task need company: unless they are
/// compared across tasks, a task's candidates come in bundles.
std::vector<std::vector<uint32_t>> batches(const TrainingData& data, const FitOptions& o, Rng& rng) {
  constexpr size_t kBundle = 64;
  std::vector<uint32_t> order(data.labels.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(order, rng);
  if (!o.across_tasks) {
    std::map<uint32_t, std::vector<uint32_t>> by_task;
    for (const uint32_t c : order) by_task[data.tasks[c]].push_back(c);
    std::vector<std::vector<uint32_t>> bundles;
    for (const auto& [task, own] : by_task)
      for (size_t i = 0; i < own.size(); i += kBundle)
        bundles.emplace_back(own.begin() + static_cast<std::ptrdiff_t>(i), own.begin() + static_cast<std::ptrdiff_t>(std::min(own.size(), i + kBundle)));
    std::vector<uint32_t> places(bundles.size());
    std::iota(places.begin(), places.end(), 0U);
    shuffle(places, rng);
    order.clear();
    for (const uint32_t b : places) order.insert(order.end(), bundles[b].begin(), bundles[b].end());
  }
  std::vector<std::vector<uint32_t>> out;
  const auto size = static_cast<size_t>(o.batch);
  for (size_t i = 0; i < order.size(); i += size) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), i + size));
    if (i + 1 == order.size() && !out.empty()) {
      out.back().push_back(order.back());
    } else {
      out.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(i), end);
    }
  }
  return out;
}

/// Rows of one kind by what all of them are like: divided by the greatest of each column, or less its mean and divided by its deviation. Columns are logarithms or flags, so that
/// a deviation below a tenth means next to nothing; one that never changes says nothing, whatever it is later. With `keeps`, columns that say something stay as they are.
void learn_normaliser(Weights& w, const Candidates& all, bool standardises, bool keeps) {
  constexpr float kLeastDeviation = 0.1F, kNothing = 1e6F;
  const Network& network = w.network();
  if (!standardises && !network.kinds) return;
  const auto learn = [&](float kind, size_t first, size_t columns, const std::string& name) {
    std::vector<double> greatest(columns, 0), sum(columns, 0), squares(columns, 0);
    double rows = 0;
    for (size_t r = 0; r < all.begins.back(); ++r) {
      const float* row = &all.rows[r * network.columns];
      if (network.kinds && row[0] != kind) continue;
      ++rows;
      for (size_t c = 0; c < columns; ++c) {
        const double v = row[network.first() + first + c];
        greatest[c] = std::max(greatest[c], v), sum[c] += v, squares[c] += v * v;
      }
    }
    float *scale = w[name].data_ptr<float>(), *shift = w[name + "_shift"].data_ptr<float>();
    for (size_t c = 0; c < columns; ++c) {
      if (keeps && scale[c] < kNothing) continue;
      const double mean = rows > 0 ? sum[c] / rows : 0, deviation = rows > 0 ? std::sqrt(std::max(0.0, squares[c] / rows - mean * mean)) : 0;
      shift[c] = standardises ? static_cast<float>(mean) : 0;
      if (standardises)
        scale[c] = deviation > 1e-4 ? std::max(kLeastDeviation, static_cast<float>(deviation)) : kNothing;
      else
        scale[c] = greatest[c] > 0 ? static_cast<float>(greatest[c]) : 1;
    }
  };
  learn(0, 0, network.statement, "normaliser.rows");
  if (w.network().name == pam().name) learn(1, kStatementColumns, kPatternColumns, "normaliser.pattern");
}

/// The mean of what weights were in the last steps, which knows more than what the last one left.
class Average {
 public:
  explicit Average(std::vector<torch::Tensor> parameters) : parameters_(std::move(parameters)) {
    for (const torch::Tensor& p : parameters_) sums_.push_back(torch::zeros_like(p));
  }
  void add() {
    const torch::NoGradGuard fixed;
    ++steps_;
    for (size_t i = 0; i < parameters_.size(); ++i) sums_[i].add_(parameters_[i]);
  }
  void take() {
    const torch::NoGradGuard fixed;
    for (size_t i = 0; steps_ > 0 && i < parameters_.size(); ++i) parameters_[i].copy_(sums_[i] / steps_);
  }

 private:
  std::vector<torch::Tensor> parameters_, sums_;
  int64_t steps_ = 0;
};

/// Kingma and Ba, "Adam" (ICLR 2015), with the penalty of weights in the gradient; or plain descent.
class Optimiser {
 public:
  Optimiser(std::vector<torch::Tensor> parameters, const FitOptions& o) : parameters_(std::move(parameters)), o_(o) {
    for (const torch::Tensor& p : parameters_) first_.push_back(torch::zeros_like(p)), second_.push_back(torch::zeros_like(p));
  }

  void step(double rate) {
    constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
    const torch::NoGradGuard fixed;
    ++steps_;
    double squares = 0;
    for (const torch::Tensor& p : parameters_)
      if (p.grad().defined()) squares += p.grad().square().sum().item<double>();
    const double norm = std::sqrt(squares), scale = o_.clip > 0 && norm > o_.clip ? o_.clip / norm : 1;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      torch::Tensor& p = parameters_[i];
      if (!p.grad().defined()) continue;
      const torch::Tensor g = p.grad() * scale + p * o_.weight_decay;
      if (o_.momentum_free) {
        p.sub_(g, rate);
      } else {
        first_[i].mul_(kBeta1).add_(g, 1 - kBeta1);
        second_[i].mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
        const torch::Tensor size = (second_[i] / (1 - std::pow(kBeta2, steps_))).sqrt_().add_(kEpsilon);
        p.addcdiv_(first_[i], size, -rate / (1 - std::pow(kBeta1, steps_)));
      }
      p.mutable_grad() = torch::Tensor();
    }
  }

 private:
  std::vector<torch::Tensor> parameters_, first_, second_;
  const FitOptions& o_;
  int steps_ = 0;
};

}  // namespace

std::vector<double> train(Weights& w, const TrainingData& data, const FitOptions& o, const Tell& tell) {
  // The release halves the rate after each third of a long training alone.
  constexpr int kLong = 70;
  constexpr double kKept = 0.95;  // of the running loss that says when it ends, after each batch
  learn_normaliser(w, data.candidates, o.standardises, o.keeps_normaliser);
  Rng rng(o.seed);
  Optimiser optimiser(w.learned(), o);
  Average average(w.learned());
  const auto in_epoch = static_cast<int>((data.labels.size() + static_cast<size_t>(o.batch) - 1) / static_cast<size_t>(o.batch));
  const int epochs = std::max(o.epochs, (o.least_steps + in_epoch - 1) / in_epoch), averaged = epochs - static_cast<int>(o.average * epochs);
  std::vector<double> losses;
  double running = 0, least = std::numeric_limits<double>::infinity();
  bool begun = false;
  int in_vain = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double rate = o.epochs < kLong ? o.learning_rate : o.learning_rate * std::pow(0.5, epoch / (o.epochs / 3));
    double sum = 0;
    for (const std::vector<uint32_t>& which : batches(data, o, rng)) {
      std::vector<float> labels;
      std::vector<int64_t> tasks;
      for (const uint32_t c : which) labels.push_back(data.labels[c]), tasks.push_back(data.tasks[c]);
      const torch::Tensor said = forward(w, make_batch(w.network(), data.candidates, which), Norm::learn);
      const torch::Tensor loss = loss_of(o.loss, said, torch::tensor(labels), torch::tensor(tasks, torch::kLong), o.across_tasks);
      loss.backward();
      optimiser.step(rate);
      if (epoch >= averaged) average.add();
      const double value = loss.item<double>();
      sum += value;
      running = begun ? kKept * running + (1 - kKept) * value : value;
      begun = true;
      if (!tell(epoch, std::nullopt)) return losses;
    }
    losses.push_back(sum / static_cast<double>(data.labels.size()));
    if (!tell(epoch, losses.back())) return losses;
    in_vain = running < least ? 0 : in_vain + 1;
    least = std::min(least, running);
    if (o.patience > 0 && in_vain >= o.patience && epoch >= averaged) break;
  }
  average.take();
  return losses;
}

std::vector<float> scores(Weights& w, const Candidates& all, Norm norm) {
  constexpr size_t kAtOnce = 4096;
  const torch::NoGradGuard fixed;
  std::vector<float> out;
  for (size_t begin = 0; begin < all.count(); begin += kAtOnce) {
    std::vector<uint32_t> which(std::min(kAtOnce, all.count() - begin));
    std::iota(which.begin(), which.end(), static_cast<uint32_t>(begin));
    const torch::Tensor said = forward(w, make_batch(w.network(), all, which), norm).contiguous();
    out.insert(out.end(), said.data_ptr<float>(), said.data_ptr<float>() + said.numel());
  }
  return out;
}

}  // namespace tw::learner
