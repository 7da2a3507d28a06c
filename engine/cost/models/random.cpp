// SPDX-License-Identifier: Apache-2.0
#include "engine/base/hash.h"
#include "engine/cost/models/models.h"

namespace tw::cost {
namespace {

class RandomModel : public CostModel {
 public:
  using CostModel::CostModel;

  Expected<void> fit(const Dataset& data, const FitInput& input) override {
    samples_ = data.size();
    seed_ = input.seed;
    return {};
  }

  Expected<std::vector<float>> predict(const FeatureMatrix& x, std::span<const float> margins) const override {
    if (samples_ == 0) return Error(ErrorCode::not_applicable, "Expected a model that has learned, found one without any data");
    std::vector<float> scores(x.candidates());
    for (size_t c = 0; c < scores.size(); ++c) {
      // By the numbers without the zeros that pad them, so that a candidate's score does not depend on its neighbours.
      uint64_t hash = seed_;
      for (size_t r = x.begins()[c]; r < x.begins()[c + 1]; ++r) {
        const float* row = x.data() + r * x.columns();
        size_t length = x.columns();
        while (length > 0 && row[length - 1] == 0) --length;
        hash = stable_hash({reinterpret_cast<const char*>(row), length * sizeof(float)}, hash);
      }
      scores[c] = static_cast<float>(Rng(hash).uniform_real()) + (margins.empty() ? 0 : margins[c]);
    }
    return scores;
  }

  size_t samples() const override { return samples_; }

 private:
  Expected<std::string> state() const override { return dump_json(Json{{"seed", seed_}, {"samples", samples_}}); }
  Expected<void> restore(std::string_view state) override {
    TW_TRY(const Json j, parse_json(state));
    seed_ = j.at("seed").get<uint64_t>();
    samples_ = j.at("samples").get<size_t>();
    return {};
  }

  uint64_t seed_ = 0;
  size_t samples_ = 0;
};

}  // namespace

ModelDef random_model() {
  return {"random",
          {},
          [](const ModelDef& def, const FeatureDef& feature, const Json& params) -> std::unique_ptr<CostModel> {
            return std::make_unique<RandomModel>(def, feature, params);
          },
          "Learns nothing: a candidate's score is a random number that its features and the seed decide. What a model is worth shows beside it.",
          "The baseline of Zheng et al., \"Ansor\", OSDI 2020"};
}

}  // namespace tw::cost
