// SPDX-License-Identifier: Apache-2.0
#include "app/cli/conformance.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/cli/running.h"
#include "app/cli/tensors.h"
#include "engine/api/compile.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/frontends/onnx/onnx_case.h"
#include "engine/measure/device.h"

namespace tw::cli {
namespace {

namespace fs = std::filesystem;

/// Our own failures are crashes; everything else that stops a case is something not built yet.
CaseResult failed(const Error& e) {
  if (e.code == ErrorCode::wrong_result) return {{}, "wrong", e.text()};
  const bool ours = e.code == ErrorCode::internal || e.code == ErrorCode::infrastructure || e.code == ErrorCode::crash;
  return {{}, ours ? "crashed" : "unsupported", e.text()};
}

/// Imports, compiles, runs and compares one data set; folds its errors into `result`. Inputs that hold shapes or axes become constants at import.
Expected<void> run_data_set(const std::string& folder, int number, const Target& target, const CaseOptions& options_of_case, CaseResult& result) {
  const std::string& device = options_of_case.device;
  TW_TRY(frontends::OnnxCase c, frontends::read_onnx_case(folder, number));
  api::Network network;
  network.imported = std::move(c.graph);
  TW_TRY(network.optimized, graph::run_passes(network.imported, target));
  TW_TRY(network.partition, graph::partition(network.optimized));
  api::CompileOptions options;
  options.machine_code = !measure::is_simulated(device);
  TW_TRY(runtime::Executable compiled, api::compile(network, target, nullptr, options));
  const auto e = std::make_shared<const runtime::Executable>(std::move(compiled));
  TW_TRY(const auto executor, make_executor(e, device));
  TensorMap named;
  for (int slot : e->inputs) {
    const std::string& name = e->slots[slot].spec.name;
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (network.imported.values[network.imported.inputs[i]].name == name) named[name] = std::move(c.inputs[i]);
  }
  TW_CHECK(executor->set_inputs(named));
  TW_CHECK(executor->run());
  TW_TRY(const std::vector<HostArray> got, executor->outputs());
  if (got.size() != c.outputs.size()) return Error(ErrorCode::internal, fmt::format("Expected {} outputs, found {}", c.outputs.size(), got.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const HostArray found = c.plain(i, got[i]), wanted = c.plain(i, c.outputs[i]);
    Tolerance tolerance = tolerance_for(wanted.dtype);
    if (options_of_case.rtol >= 0 || options_of_case.atol >= 0) tolerance = {std::max(options_of_case.rtol, 0.0), std::max(options_of_case.atol, 0.0)};
    const Comparison difference = compare_elements(found, wanted, tolerance);
    result.max_abs = std::max(result.max_abs, difference.max_abs);
    result.max_rel = std::max(result.max_rel, difference.max_rel);
    if (!difference.wrong.empty() && result.status != "wrong") {
      result.status = "wrong";
      result.reason = fmt::format("Output {} of data set {}: {}", i, number, difference.wrong);
    }
  }
  return {};
}

}  // namespace

Json to_json(const CaseResult& r) {
  return {{"name", r.name},
          {"status", r.status},
          {"reason", r.reason.empty() ? Json(nullptr) : Json(r.reason)},
          {"max_abs_error", std::isfinite(r.max_abs) ? Json(r.max_abs) : Json(nullptr)},
          {"max_rel_error", std::isfinite(r.max_rel) ? Json(r.max_rel) : Json(nullptr)}};
}

CaseResult case_from_json(const Json& j) {
  const auto number = [&](const char* key) { return j.contains(key) && j[key].is_number() ? j[key].get<double>() : 0.0; };
  const auto text = [&](const char* key) { return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : std::string(); };
  return {text("name"), text("status"), text("reason"), number("max_abs_error"), number("max_rel_error")};
}

Expected<std::vector<std::string>> find_cases(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) return Error(ErrorCode::not_found, fmt::format("Expected a folder of ONNX test cases, found no folder '{}'", path));
  std::vector<std::string> cases;
  if (fs::exists(fs::path(path) / "model.onnx")) cases.push_back(path);
  for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    if (entry.is_directory() && fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path().string());
  }
  if (cases.empty()) return Error(ErrorCode::not_found, fmt::format("Expected folders with a model.onnx below '{}', found none", path));
  std::sort(cases.begin(), cases.end());
  return cases;
}

CaseResult run_case(const std::string& folder, const Target& target, const CaseOptions& options) {
  CaseResult result{{}, "passed", {}};
  int sets = 0;
  for (; fs::is_directory(fs::path(folder) / fmt::format("test_data_set_{}", sets)); ++sets) {
    if (auto r = run_data_set(folder, sets, target, options, result); !r) return failed(r.error());
  }
  if (sets == 0) return {{}, "unsupported", "The folder has no test_data_set_0"};
  return result;
}

}  // namespace tw::cli
