// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/models/models.h"
#include "engine/cost/draft/draft.h"

namespace tw::cost {
namespace {

constexpr const char* kOwn = "own";

/// Knows from the start what it will ever know: the score is one over the time that a formula says.
class SymbolModel : public CostModel {
 public:
  using CostModel::CostModel;

  Expected<void> fit(const Dataset& data, const FitInput&) override {
    samples_ = data.size();
    return {};
  }

  Expected<std::vector<float>> predict(const FeatureMatrix& x, std::span<const float> margins) const override {
    if (samples_ == 0) return Error(ErrorCode::not_applicable, "Expected a model that has learned, found one without any data");
    std::vector<float> scores(x.candidates());
    for (size_t c = 0; c < scores.size(); ++c) {
      const std::span<const float> rows(x.data() + x.begins()[c] * x.columns(), (x.begins()[c + 1] - x.begins()[c]) * x.columns());
      scores[c] = draft_score(rows, find_draft_device(params().at("formula").get<std::string>())) + (margins.empty() ? 0 : margins[c]);
    }
    return scores;
  }

  size_t samples() const override { return samples_; }

 private:
  Expected<std::string> state() const override { return dump_json(Json{{"samples", samples_}}); }
  Expected<void> restore(std::string_view state) override {
    TW_TRY(const Json j, parse_json(state));
    samples_ = j.at("samples").get<size_t>();
    return {};
  }

  size_t samples_ = 0;
};

}  // namespace

ModelDef symbols_model() {
  std::vector<std::string> formulas = {kOwn};
  for (const DraftDevice& d : draft_devices()) formulas.push_back(d.name);
  return {"symbols",
          {choice_param("formula", kOwn, "our own, or that of Pruner's release with one of its GPUs", formulas)},
          [](const ModelDef& def, const FeatureDef& feature, const Json& params) -> std::unique_ptr<CostModel> {
            return std::make_unique<SymbolModel>(def, feature, params);
          },
          "Learns nothing and needs no trials: a formula over what each statement computes, keeps in registers and moves. Rough, and quick enough to look at every candidate "
          "of a search.",
          "Draft stage of Pruner (Qiao et al., arXiv 2402.02361)", "symbols"};
}

}  // namespace tw::cost
