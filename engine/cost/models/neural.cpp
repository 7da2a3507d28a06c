// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "engine/cost/features/felix.h"
#include "engine/cost/mlp.h"
#include "engine/cost/models/models.h"
#include "engine/learner/learner.h"

namespace tw::cost {
namespace {

/// Of all weights of this program, so that a learner knows which it has.
uint64_t next_version() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::span<const uint32_t> narrow(std::span<const size_t> begins, std::vector<uint32_t>& out) {
  out.assign(begins.begin(), begins.end());
  return out;
}

/// A network that `tw-learner` fits. What it learned lies and is computed here, so that the process may die at any moment and a model that only predicts needs none.
class NeuralModel : public CostModel {
 public:
  NeuralModel(const ModelDef& def, const FeatureDef& feature, const Json& p, const learner::Network& network)
      : CostModel(def, feature, p), network_(network), momentum_(p.at("momentum").get<double>()), every_(p.at("every").get<int>()) {
    fit_.loss = *learner::find_loss(p.at("loss").get<std::string>());
    fit_.epochs = p.at("epochs").get<int>();
    fit_.batch = p.at("batch").get<int>();
    fit_.learning_rate = p.at("learning_rate").get<double>();
    fit_.weight_decay = p.at("weight_decay").get<double>();
    fit_.clip = p.at("clip").get<double>();
    fit_.across_tasks = p.at("across_tasks").get<bool>();
    fit_.patience = p.at("patience").get<int>();
    fit_.standardises = p.at("standardises").get<bool>();
    fit_.least_steps = p.at("least_steps").get<int>();
    fit_.average = p.at("average").get<double>();
    update_steps_ = p.at("update_steps").get<int>();
    update_rate_ = p.at("update_rate").get<double>();
    const int threads = p.at("threads").get<int>();
    fit_.threads = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    update_epochs_ = p.at("update_epochs").get<int>();
    batch_statistics_ = p.value("batch_statistics", false);
  }

  Expected<void> fit(const Dataset& data, const FitInput& in) override {
    if (data.size() == 0) return Error(ErrorCode::invalid_argument, "Expected features of some candidates to learn from, found none");
    if (every_ > 1 && samples_ > 0 && ++calls_ % every_ != 0) return {};
    const Told told(data, fit_.loss == learner::Loss::log_mse);
    if (told.rows.empty()) return Error(ErrorCode::invalid_argument, "Expected times of some candidates to learn from, found that all failed");
    const FeatureMatrix x(told.rows);
    TW_CHECK(check(x));
    std::vector<uint32_t> begins;
    learner::FitOptions o = fit_;
    o.seed = in.seed;
    const bool siamese = momentum_ > 0 && !slow_.empty(), updates = !siamese && update_epochs_ > 0 && samples_ > 0 && data.size() < 2 * from_nothing_;
    o.keeps_normaliser = siamese && fit_.standardises;  // Pruner's release replaces it by that of the new data, which the slow weights do not know
    if (updates) {
      o.epochs = update_epochs_, o.least_steps = update_steps_, o.keeps_normaliser = true;
      if (update_rate_ > 0) o.learning_rate = update_rate_;
    }
    const std::vector<float> from = siamese ? slow_ : updates ? weights_ : fit_.loss == learner::Loss::log_mse ? beginning(told.labels, in.seed) : kNone;
    TW_TRY(learner::Fitted fitted, learner_.fit(network_, from, {{x.data(), x.rows() * network_.columns}, narrow(x.begins(), begins), told.labels, told.tasks}, o, in.stop));
    if (momentum_ > 0 && siamese) follow(fitted.weights);
    if (momentum_ > 0 && !siamese) slow_ = fitted.weights;
    if (!updates) from_nothing_ = data.size();
    samples_ = data.size();
    told_ = {{"samples", samples_}, {"epochs", fitted.losses.size()}, {"updated", updates}, {"learning_rate", o.learning_rate}};
    if (!fitted.losses.empty()) told_["loss"] = fitted.losses.back();
    if (momentum_ > 0) told_["momentum"] = momentum_;
    learned(std::move(fitted.weights));
    return {};
  }

  Expected<std::vector<float>> predict(const FeatureMatrix& x, std::span<const float> margins) const override {
    if (samples_ == 0) return Error(ErrorCode::not_applicable, "Expected a model that has learned, found one without any data");
    if (x.candidates() == 0) return std::vector<float>();
    TW_CHECK(check(x));
    std::vector<float> out;
    if (!batch_statistics_) {
      if (!workers_) workers_ = std::make_unique<WorkerPool>(fit_.threads);
      out = scores_->scores(x, workers_.get());
    } else {
      std::vector<uint32_t> begins;
      TW_TRY(out, learner_.predict(network_, weights_, version_, {x.data(), x.rows() * network_.columns}, narrow(x.begins(), begins), batch_statistics_, fit_.threads));
    }
    for (size_t i = 0; i < margins.size(); ++i) out[i] += margins[i];
    return out;
  }

  Expected<Slopes> slopes(const FeatureMatrix& x) const override {
    const auto* mlp = dynamic_cast<const Mlp*>(scores_.get());
    if (mlp == nullptr) return CostModel::slopes(x);
    TW_CHECK(check(x));
    Mlp::Scored found = mlp->scored(x);
    return Slopes{std::move(found.scores), std::move(found.gradient)};
  }

  size_t samples() const override { return samples_; }
  Json told() const override { return told_; }
  int64_t process() const override { return learner_.pid(); }

 private:
  static inline const std::vector<float> kNone;

  /// What a fit is told: labels relative to the fastest of a task, or logarithms of speeds, which what failed has none of.
  struct Told {
    Told(const Dataset& data, bool logarithms) {
      const std::vector<double> relative = data.labels();
      size_t at = 0;
      for (size_t t = 0; t < data.tasks().size(); ++t)
        for (const Dataset::Sample& s : data.tasks()[t].samples) {
          const double label = logarithms ? std::log(s.speed) : relative[at];
          ++at;
          if (logarithms && !(s.speed > 0)) continue;
          rows.push_back(&s.rows);
          labels.push_back(static_cast<float>(label));
          tasks.push_back(static_cast<uint32_t>(t));
        }
    }
    std::vector<const FeatureRows*> rows;
    std::vector<float> labels;
    std::vector<uint32_t> tasks;
  };

  Expected<void> check(const FeatureMatrix& x) const {
    if (x.columns() == network_.columns) return {};
    return Error(ErrorCode::invalid_argument, fmt::format("Expected rows of {} numbers, found {}", network_.columns, x.columns()));
  }

  /// What predicts a quantity itself begins at its mean: steps as small as those of weights would need thousands to get there.
  std::vector<float> beginning(std::span<const float> labels, uint64_t seed) const {
    std::vector<float> out = network_.initial(seed);
    double sum = 0;
    for (const float l : labels) sum += l;
    out[network_.offset("decoder.bias")] = static_cast<float>(sum / static_cast<double>(labels.size()));
    return out;
  }

  void learned(std::vector<float> weights) {
    weights_ = std::move(weights);
    version_ = next_version();
    scores_ = make_network(network_, weights_);
  }

  /// The slow weights move a little towards what was learned from them; what describes the data is taken over.
  void follow(const std::vector<float>& fast) {
    size_t at = 0;
    for (const learner::TensorSpec& t : network_.tensors)
      for (const size_t end = at + t.elements(); at < end; ++at)
        slow_[at] = t.learned ? static_cast<float>(momentum_ * slow_[at] + (1 - momentum_) * fast[at]) : fast[at];
  }

  Expected<std::string> state() const override {
    const Json head = {{"samples", samples_}, {"from_nothing", from_nothing_}, {"calls", calls_}, {"network", network_.name}, {"elements", weights_.size()}, {"slow", slow_.size()}};
    std::string out = dump_json(head) + "\n";
    for (const std::vector<float>* part : {&weights_, &slow_}) out.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(float));
    return out;
  }

  Expected<void> restore(std::string_view state) override {
    const size_t end = std::min(state.find('\n'), state.size());
    TW_TRY(const Json head, parse_json(state.substr(0, end)));
    std::string_view bytes = state.substr(std::min(end + 1, state.size()));
    const auto elements = head.at("elements").get<size_t>(), slow = head.at("slow").get<size_t>();
    if (head.at("network").get<std::string>() != network_.name || elements != network_.elements() || (slow != 0 && slow != elements) ||
        bytes.size() != (elements + slow) * sizeof(float))
      return Error(ErrorCode::version, fmt::format("Expected the {} numbers of this version's network '{}', found others", network_.elements(), network_.name));
    std::vector<float> weights(elements);
    slow_.resize(slow);
    std::memcpy(weights.data(), bytes.data(), elements * sizeof(float));
    if (slow > 0) std::memcpy(slow_.data(), bytes.data() + elements * sizeof(float), slow * sizeof(float));
    if (momentum_ > 0 && slow_.empty()) slow_ = weights;  // the source that it follows from now on
    from_nothing_ = head.at("from_nothing").get<size_t>();
    calls_ = head.at("calls").get<int>();
    learned(std::move(weights));
    samples_ = head.at("samples").get<size_t>();
    return {};
  }

  const learner::Network& network_;
  learner::FitOptions fit_;
  double momentum_, update_rate_ = 0;
  int every_, update_epochs_ = 0, update_steps_ = 0;
  bool batch_statistics_ = false;
  std::vector<float> weights_, slow_;  ///< `slow_`: those that every fit begins with, with momentum
  uint64_t version_ = 0;
  std::unique_ptr<NetworkScores> scores_;       ///< of the weights
  mutable std::unique_ptr<WorkerPool> workers_;
  size_t samples_ = 0, from_nothing_ = 0;  ///< that it learned from; when it last began from nothing
  int calls_ = 0;                          ///< of fit since there was something to keep
  Json told_;
  mutable learner::Learner learner_;
};

ParamSchema params(bool normalises) {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  const auto names = learner::loss_names();
  ParamSchema out = {
      choice_param("loss", "lambda_rank", "what fitting minimises", {names.begin(), names.end()}),
      number_param("epochs", kInt, 50, "passes over the data of a fit from nothing", 1, 10'000),
      number_param("update_epochs", kInt, 6, "passes of a fit that goes on where the last one ended, until there is twice the data; 0: each fit begins from nothing", 0, 10'000),
      number_param("least_steps", kInt, 300, "steps of a fit from nothing at least, where little data makes fewer", 0, 100'000),
      number_param("update_steps", kInt, 30, "the same of a fit that goes on", 0, 100'000),
      number_param("average", kReal, 0.3, "share of the steps, the last ones, whose mean the weights are", 0, 1),
      flag_param("standardises", true, "columns less their mean by their deviation; else as the papers' code has them: divided by their greatest, Felix's as they are"),
      number_param("batch", kInt, 128, "candidates of a step; 512 in the papers' code", 2, 65'536),
      number_param("learning_rate", kReal, 7e-4, "of Adam", 1e-6, 1),
      number_param("update_rate", kReal, 0.0, "learning rate of a fit that goes on; 0: the same", 0, 1),
      number_param("weight_decay", kReal, 1e-6, "penalty of weights", 0, 1),
      number_param("clip", kReal, 0.5, "greatest length of a gradient; 0: any", 0, 1e9),
      number_param("patience", kInt, 16, "passes without a lower loss before fitting ends; 0: it never ends early", 0, 10'000),
      flag_param("across_tasks", false, "candidates of different tasks are ranked against each other too, as the papers' code does"),
      number_param("momentum", kReal, 0.0, "of the slow weights that every fit begins with, as in MoA-Pruner, which has 0.99; 0: none", 0, 0.999999),
      number_param("every", kInt, 1, "rounds for each fit", 1, 1000),
      number_param("threads", kInt, 0, "that fit and predict; 0: as many as the machine has processors", 0, 256)};
  if (normalises)
    out.push_back(flag_param("batch_statistics", false, "predictions normalise by the candidates themselves, as Pruner's release does, instead of by what was learned"));
  return out;
}

template <const learner::Network& (*network)()>
std::unique_ptr<CostModel> make(const ModelDef& def, const FeatureDef& feature, const Json& params) {
  return std::make_unique<NeuralModel>(def, feature, params, network());
}

/// Felix's own: what its release has, but for columns that are standardised, batches of 64, and fewer steps of a fit that goes on.
ParamSchema felix_params() {
  ParamSchema out = params(false);
  const Json own = {{"loss", "log_mse"}, {"epochs", 60}, {"least_steps", 600}, {"batch", 64}, {"update_rate", 1e-4}, {"update_epochs", 2}, {"update_steps", 240}, {"across_tasks", true}};
  for (Param& p : out)
    if (own.contains(p.name)) p.default_value = own.at(p.name);
  return out;
}

}  // namespace

ModelDef felix_model() {
  static_assert(kFelixColumns == learner::kFelixRowColumns, "the network sees the features' rows");
  return {"felix", felix_params(), make<learner::felix>,
          "Felix's network of 237,313 numbers, which is TenSet's over 154 numbers of a statement and says the logarithm of runs per second. It has derivatives by what it sees, so that a descent can "
          "ask where candidates would be faster. tw-learner fits it; predictions need no other process.",
          "Zhao et al., \"Felix: optimizing tensor programs with gradient descent\", ASPLOS 2024", "felix", true};
}

ModelDef tenset_mlp_model() {
  return {"tenset-mlp", params(false), make<learner::mlp>,
          "TenSet's network of 242,433 numbers: every statement through two layers, their sum through two more. tw-learner fits it with libtorch; predictions need no other process.",
          "Zheng et al., \"TenSet: a large-scale program performance dataset for learned tensor compilers\", NeurIPS Datasets and Benchmarks 2021", "pam", true, 2};
}

ModelDef pam_model() {
  return {"pam", params(true), make<learner::pam>,
          "Pruner's network of 417,409 numbers: TenSet's beside attention over the eight steps of a product that shared memory feeds. tw-learner, with libtorch, fits and computes it. "
          "Without that step in a program, as on processors, it sees what TenSet's sees.",
          "Qiao et al., \"Pruner\", arXiv 2402.02361", "pam", true, 2};
}

}  // namespace tw::cost
