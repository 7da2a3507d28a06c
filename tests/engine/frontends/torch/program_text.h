// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>

#include "engine/base/json.h"
#include "tests/engine/frontends/torch/archive.h"

/// Exported programs written by hand: a parameter `w` [3], an input `x` [2, 3] of float32 and whatever calls a test wants.
namespace program_test {

using tw::Json;

inline Json sizes(const std::vector<int64_t>& v) {
  Json out = Json::array();
  for (const int64_t d : v) out.push_back({{"as_int", d}});
  return out;
}
inline Json meta(const std::vector<int64_t>& shape, int type = 7) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return {{"dtype", type}, {"sizes", sizes(shape)}, {"strides", sizes(strides)}, {"storage_offset", {{"as_int", 0}}}, {"layout", 7}, {"a field of tomorrow", true}};
}
inline Json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }
inline Json call(const std::string& target, const std::vector<std::pair<std::string, Json>>& arguments, const std::string& result) {
  Json inputs = Json::array();
  for (const auto& [name, value] : arguments) inputs.push_back({{"name", name}, {"arg", value}, {"kind", 1}});
  return {{"target", target}, {"inputs", inputs}, {"outputs", Json::array({tensor(result)})}, {"metadata", Json::object()}};
}

/// Its last call gives `y`.
inline Json program(const Json& calls, const Json& values = Json::object()) {
  Json tensors = {{"p_w", meta({3})}, {"x", meta({2, 3})}};
  tensors.update(values);
  const Json inputs = Json::array({tensor("p_w"), tensor("x")}), outputs = Json::array({tensor("y")});
  return {{"schema_version", {{"major", 8}, {"minor", 99}}},
          {"range_constraints", Json::object()},
          {"of tomorrow", Json::array({1, 2})},
          {"graph_module",
           {{"graph", {{"inputs", inputs}, {"outputs", outputs}, {"nodes", calls}, {"tensor_values", tensors}}},
            {"signature",
             {{"input_specs", Json::array({{{"parameter", {{"arg", {{"name", "p_w"}}}, {"parameter_name", "w"}}}}, {{"user_input", {{"arg", tensor("x")}}}}})},
              {"output_specs", Json::array({{{"user_output", {{"arg", tensor("y")}}}}})}}}}}};
}

inline Json weights(const Json& described) { return {{"config", {{"w", {{"path_name", "weight_0"}, {"use_pickle", false}, {"tensor_meta", described}}}}}}; }

/// The three numbers of `w` are 0, 1, 2.
inline std::string archive(const Json& document, const Json& config = weights(meta({3}))) {
  return archive_test::zip({{"model/models/model.json", document.dump()},
                            {"model/data/weights/model_weights_config.json", config.dump()},
                            {"model/data/weights/weight_0", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12)},
                            {"model/byteorder", "little"}});
}

inline std::string written(const QTemporaryDir& folder, const std::string& bytes) {
  QFile f(folder.filePath("model.pt2"));
  if (!f.open(QIODevice::WriteOnly | QIODevice::Truncate)) return {};
  f.write(bytes.data(), static_cast<qint64>(bytes.size()));
  return f.fileName().toStdString();
}

}  // namespace program_test
