// SPDX-License-Identifier: Apache-2.0
#include "app/cli/conformance.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/cli/running.h"
#include "app/cli/tensors.h"
#include "engine/api/compile.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

namespace fs = std::filesystem;

/// Our own failures are crashes; everything else that stops a case is something not built yet.
CaseResult failed(const Error& e) {
  const bool ours = e.code == ErrorCode::internal || e.code == ErrorCode::infrastructure || e.code == ErrorCode::crash;
  return {{}, ours ? "crashed" : "unsupported", e.text()};
}

/// The tensors `KIND_0.pb`, `KIND_1.pb` ... of a data set.
Expected<std::vector<HostArray>> read_tensors(const fs::path& folder, const char* kind) {
  std::vector<HostArray> tensors;
  for (int i = 0;; ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(path)) return tensors;
    TW_TRY(HostArray t, frontends::read_onnx_tensor(path.string()));
    tensors.push_back(std::move(t));
  }
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_")) sets.push_back(entry.path());
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// Runs one data set and folds its errors into `result`; sets `wrong` and `reason` on the first difference.
Expected<void> run_data_set(const fs::path& set, const graph::Graph& graph, const runtime::Executable& e, runtime::GraphExecutor& executor,
                            CaseResult& result) {
  TW_TRY(auto inputs, read_tensors(set, "input"));
  TW_TRY(const auto want, read_tensors(set, "output"));
  if (inputs.size() != graph.inputs.size() || want.size() != graph.outputs.size()) {
    return Error(ErrorCode::unsupported, fmt::format("Expected {} inputs and {} outputs in the data set, found {} and {}", graph.inputs.size(),
                                                     graph.outputs.size(), inputs.size(), want.size()));
  }
  TensorMap named;
  for (int slot : e.inputs) {
    const auto at = std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](int v) { return graph.values[v].name == e.slots[slot].spec.name; });
    if (at != graph.inputs.end()) named[e.slots[slot].spec.name] = std::move(inputs[static_cast<size_t>(at - graph.inputs.begin())]);
  }
  TW_CHECK(executor.set_inputs(named));
  executor.run();
  const auto got = executor.outputs();
  for (size_t i = 0; i < want.size(); ++i) {
    const Comparison c = compare_elements(got[i], want[i], tolerance_for(want[i].dtype));
    result.max_abs = std::max(result.max_abs, c.max_abs);
    result.max_rel = std::max(result.max_rel, c.max_rel);
    if (!c.wrong.empty() && result.status != "wrong") {
      result.status = "wrong";
      result.reason = fmt::format("Output '{}' of {}: {}", graph.values[graph.outputs[i]].name, set.filename().string(), c.wrong);
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

CaseResult run_case(const std::string& folder, const Target& target) {
  auto network = api::import_network((fs::path(folder) / "model.onnx").string(), target);
  if (!network) return failed(network.error());
  const auto sets = data_sets(folder);
  if (sets.empty()) return {{}, "unsupported", "The folder has no test_data_set_*"};
  auto compiled = api::compile(*network, target, nullptr);
  if (!compiled) return failed(compiled.error());
  const auto e = std::make_shared<const runtime::Executable>(std::move(*compiled));
  auto executor = make_executor(e);
  if (!executor) return failed(executor.error());
  CaseResult result{{}, "passed", {}};
  for (const fs::path& set : sets) {
    if (auto r = run_data_set(set, network->imported, *e, **executor, result); !r) return failed(r.error());
  }
  return result;
}

}  // namespace tw::cli
