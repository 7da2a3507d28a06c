// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <string>
#include <unordered_set>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/param_schema.h"
#include "engine/cost/dataset.h"

namespace tw::cost {

struct FitInput {
  uint64_t seed = 0;
  /// What another model says of each sample, to which this one adds; none: it starts from nothing.
  std::span<const float> margins = {};
  StopToken stop = {};  ///< ends fitting early, with what was learned by then
};

struct ModelDef;

/// Says which candidates are fast, from their features. One thread at a time. Deterministic: the same data and seeds give the same predictions.
class CostModel {
 public:
  CostModel(const ModelDef& def, const FeatureDef& feature, Json params) : def_(def), feature_(feature), params_(std::move(params)) {}
  virtual ~CostModel() = default;

  /// Learns from all of `data`; whether on top of what it knows or from nothing is up to the model. After an error it knows nothing or, where another process fits it, what it
  /// knew before. Errors: invalid_argument for data without samples or columns; internal; of another process as of learner::Learner::fit.
  virtual Expected<void> fit(const Dataset& data, const FitInput& input) = 0;
  /// One score for each candidate, higher is better; only scores of one fit can be compared. A model that was fitted with margins needs them here too.
  /// Errors: not_applicable if it knows nothing.
  virtual Expected<std::vector<float>> predict(const FeatureMatrix& candidates, std::span<const float> margins = {}) const = 0;
  struct Slopes {
    std::vector<float> scores;
    std::vector<float> slopes;  ///< as large as the matrix: how a candidate's score changes with each number of its rows
  };
  /// Scores with their derivatives. Errors: not_applicable if it knows nothing, and for models that have none.
  virtual Expected<Slopes> slopes(const FeatureMatrix& candidates) const;
  /// Samples that it learned from; 0: it knows nothing.
  virtual size_t samples() const = 0;
  /// What its last fit did, for people: an object; null if it has nothing to say.
  virtual Json told() const { return {}; }
  /// The process that fits it, if there is one at this moment; -1: none.
  virtual int64_t process() const { return -1; }

  const ModelDef& def() const { return def_; }
  const FeatureDef& feature() const { return feature_; }
  const Json& params() const { return params_; }
  /// As predictions name it, such as "boosted-trees/knob-1": model, features and their version.
  std::string name() const;

 private:
  friend Expected<void> save_model(const CostModel& model, const std::string& path, const Json& learned_from);
  friend Expected<std::unique_ptr<CostModel>> load_model(const std::string& path);
  friend Expected<std::unique_ptr<CostModel>> load_model_as(const std::string& path, const ModelDef& def, const FeatureDef& feature, const Json& params);
  /// What it learned, as bytes, and back.
  virtual Expected<std::string> state() const = 0;
  virtual Expected<void> restore(std::string_view state) = 0;

  const ModelDef& def_;
  const FeatureDef& feature_;
  Json params_;
};

/// One row of the table.
struct ModelDef {
  const char* name;
  ParamSchema params;
  /// `params` are resolved; what it refers to outlives the model.
  std::unique_ptr<CostModel> (*make)(const ModelDef& def, const FeatureDef& feature, const Json& params);
  const char* summary;  ///< one paragraph
  const char* source;
  const char* feature = nullptr;  ///< the only features that it understands; null: any
  bool apart = false;             ///< another process fits it, so that this one may do other work meanwhile
  int version = 1;                ///< of the code that computes it: what another version saved means something else
};
const std::vector<ModelDef>& models();
const ModelDef* find_model(std::string_view name);

extern const FileKind kModelFile;
/// One file: a line that says what it is, then what the model learned. `learned_from`: what people should know of the data, an object. Errors: not_applicable if it knows nothing; those of writing a file.
Expected<void> save_model(const CostModel& model, const std::string& path, const Json& learned_from = Json::object());
/// Errors: parse_error for another kind of file, version for one of a newer format, of another version of the model or of other features than this program's, not_found for a model or features
/// that it does not have, corrupt for bytes that changed, io_error.
Expected<std::unique_ptr<CostModel>> load_model(const std::string& path);
/// The same as one of a certain model and features, with `params` (resolved) in place of those that it was saved with. Errors: invalid_argument for another's too.
Expected<std::unique_ptr<CostModel>> load_model_as(const std::string& path, const ModelDef& def, const FeatureDef& feature, const Json& params);

/// A model with what it learns from: what the searches of several tasks share. One thread at a time.
struct SharedModel {
  std::unique_ptr<CostModel> model;
  Dataset data = {};
  std::unordered_set<uint64_t> learned = {};  ///< tasks and candidates that `data` has: a search that begins anew is told of them again
  size_t fitted_with = 0;                     ///< rows of `data` that it last went to be fitted with; 0: it knows what it was saved with, or nothing
  std::future<Expected<void>> fitting = {};   ///< while another process fits it to a copy of the data: nobody asks the model meanwhile
  std::unique_ptr<SharedModel> beside = {};   ///< of a tuner that searches what this one's cannot
};

}  // namespace tw::cost
