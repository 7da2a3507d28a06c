// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/cost_model.h"

#include <fmt/format.h>

#include "engine/base/hash.h"

namespace tw::cost {
namespace {

constexpr const char* kFormat = "tilewright cost model";
constexpr int kFormatVersion = 1;

bool begins_like_a_model(std::string_view beginning) { return beginning.starts_with(fmt::format(R"({{"format":"{}",)", kFormat)); }

}  // namespace

const FileKind kModelFile{"a cost model", begins_like_a_model};

Expected<CostModel::Slopes> CostModel::slopes(const FeatureMatrix&) const {
  return Error(ErrorCode::not_applicable, fmt::format("Expected a model with derivatives, found '{}'", def_.name));
}

std::string CostModel::name() const { return fmt::format("{}/{}-{}", def_.name, feature_.name, feature_.version); }

Expected<void> save_model(const CostModel& model, const std::string& path, const Json& learned_from) {
  if (model.samples() == 0) return Error(ErrorCode::not_applicable, fmt::format("Expected a model that has learned, found '{}' without any data", model.name()));
  TW_TRY(const std::string state, model.state());
  const Json head = {{"format", kFormat},
                     {"version", kFormatVersion},
                     {"model", model.def().name},
                     {"model_version", model.def().version},
                     {"params", model.params()},
                     {"feature", model.feature().name},
                     {"feature_version", model.feature().version},
                     {"samples", model.samples()},
                     {"learned_from", learned_from},
                     {"bytes", content_key(state)}};
  const std::string line = dump_json(head) + "\n";
  const std::string_view parts[] = {line, state};
  return write_file(path, kModelFile, parts);
}

Expected<std::unique_ptr<CostModel>> load_model(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const auto head = parse_json(bytes.substr(0, end), path);
  if (!head || !head->is_object() || head->value("format", Json()) != kFormat)
    return Error(ErrorCode::parse_error, "Expected a saved cost model, found another file", path);
  try {
    if (const int version = head->at("version").get<int>(); version > kFormatVersion)
      return Error(ErrorCode::version, fmt::format("Expected a cost model of format {} at most, found format {}", kFormatVersion, version), path);
    const auto model_name = head->at("model").get<std::string>(), feature_name = head->at("feature").get<std::string>();
    const ModelDef* def = find_model(model_name);
    const FeatureDef* feature = find_feature(feature_name);
    if (def == nullptr) return Error(ErrorCode::not_found, fmt::format("Expected a known cost model, found '{}'", model_name), path);
    if (feature == nullptr) return Error(ErrorCode::not_found, fmt::format("Expected known features, found '{}'", feature_name), path);
    if (const int version = head->value("model_version", 1); version != def->version) {
      return Error(ErrorCode::version,
                   fmt::format("Expected what version {} of the model '{}' saved, found version {}: it has to be fitted anew", def->version, model_name, version), path);
    }
    if (const int version = head->at("feature_version").get<int>(); version != feature->version) {
      return Error(ErrorCode::version,
                   fmt::format("Expected a model of version {} of the features '{}', found one that learned from version {}: it has to be fitted anew",
                               feature->version, feature_name, version),
                   path);
    }
    const std::string_view state = std::string_view(bytes).substr(std::min(end + 1, bytes.size()));
    if (content_key(state) != head->at("bytes").get<std::string>()) return Error(ErrorCode::corrupt, "Expected the bytes that were saved, found others", path);
    TW_TRY(const Json params, resolve_params(def->params, head->at("params")));
    std::unique_ptr<CostModel> model = def->make(*def, *feature, params);
    TW_CHECK(model->restore(state));
    return model;
  } catch (const Json::exception& e) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a saved cost model's description, found another: {}", e.what()), path);
  }
}

Expected<std::unique_ptr<CostModel>> load_model_as(const std::string& path, const ModelDef& def, const FeatureDef& feature, const Json& params) {
  TW_TRY(const std::unique_ptr<CostModel> saved, load_model(path));
  if (&saved->def() != &def || &saved->feature() != &feature)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a model '{}' of the features '{}', found '{}'", def.name, feature.name, saved->name()), path);
  TW_TRY(const std::string state, saved->state());
  std::unique_ptr<CostModel> model = def.make(def, feature, params);
  TW_CHECK(model->restore(state));
  return model;
}

}  // namespace tw::cost
