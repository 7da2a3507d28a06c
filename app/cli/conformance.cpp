// SPDX-License-Identifier: Apache-2.0
#include "app/cli/conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "app/cli/common.h"
#include "app/cli/npy.h"
#include "app/cli/running.h"
#include "app/cli/tensors.h"
#include "engine/api/compile.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/frontends/onnx/onnx_case.h"
#include "engine/measure/device.h"
#include "engine/measure/network_run.h"

namespace tw::cli {
namespace {

namespace fs = std::filesystem;

/// Our own failures are crashes; everything else that stops a case is something not built yet.
CaseResult failed(const Error& e) {
  if (e.code == ErrorCode::wrong_result) return {{}, "wrong", e.text()};
  const bool ours = e.code == ErrorCode::internal || e.code == ErrorCode::infrastructure || e.code == ErrorCode::crash;
  return {{}, ours ? "crashed" : "unsupported", e.text()};
}

/// An array under a path without extension: `.npy`, or ONNX's `.pb`; `.bin` holds bare elements of the type that is given.
Expected<HostArray> read_array(const std::string& stem, const graph::TensorType* type) {
  if (fs::exists(stem + ".npy")) return read_npy(stem + ".npy");
  if (fs::exists(stem + ".pb")) return frontends::read_onnx_tensor(stem + ".pb");
  if (!type || !fs::exists(stem + ".bin")) return Error(ErrorCode::not_found, fmt::format("Expected the data file '{}.npy', found none", printable(stem)));
  TW_TRY(const std::string bytes, read_file(stem + ".bin"));
  HostArray a = HostArray::make(type->dtype, type->shape);
  if (a.data.size() != bytes.size())
    return Error(ErrorCode::corrupt, fmt::format("Expected {} bytes for {}, found {}", a.data.size(), type->text(), bytes.size()), stem + ".bin");
  std::memcpy(a.data.data(), bytes.data(), bytes.size());
  return a;
}

/// An exported program with inputs and outputs. Sizes that are symbols take the extents of the data.
Expected<frontends::OnnxCase> read_pt2_case(const std::string& folder, int number) {
  const std::string path = folder + "/model.pt2", data = fmt::format("{}/test_data_set_{}", folder, number);
  frontends::OnnxCase c;
  TW_TRY(c.graph, frontends::read_pt2(path));
  const auto type = [&](int v) { return &c.graph.values[static_cast<size_t>(v)].type; };
  frontends::ImportOptions dims;
  for (size_t k = 0; k < c.graph.inputs.size(); ++k) {
    TW_TRY(HostArray a, read_array(fmt::format("{}/input_{}", data, k), type(c.graph.inputs[k])));
    const graph::Value& input = c.graph.values[static_cast<size_t>(c.graph.inputs[k])];
    for (size_t d = 0; d < std::min(a.shape.size(), input.type.shape.size()); ++d)
      if (a.shape[d] != input.type.shape[d]) dims.dims[fmt::format("{}.{}", input.name, d)] = a.shape[d];
    c.inputs.push_back(std::move(a));
  }
  if (!dims.dims.empty()) {
    TW_TRY(c.graph, frontends::read_pt2(path, dims));
  }
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    const graph::Value& input = c.graph.values[static_cast<size_t>(c.graph.inputs[k])];
    if (c.inputs[k].dtype != input.type.dtype || c.inputs[k].shape != input.type.shape)
      return Error(ErrorCode::corrupt, fmt::format("Input '{}' is {}, its data are {}{}", printable(input.name), input.type.text(), c.inputs[k].dtype.name(), shape_text(c.inputs[k].shape)), data);
  }
  for (size_t k = 0; k < c.graph.outputs.size(); ++k) {
    TW_TRY(HostArray a, read_array(fmt::format("{}/output_{}", data, k), type(c.graph.outputs[k])));
    c.outputs.push_back(std::move(a));
  }
  return c;
}

using CompiledCase = std::shared_ptr<const runtime::Executable>;

Expected<CompiledCase> compiled_case(const graph::Graph& graph, const Target& target, const std::string& device) {
  api::Network network;
  network.imported = graph;
  TW_TRY(network.optimized, graph::run_passes(network.imported, target));
  TW_TRY(network.partition, graph::partition(network.optimized));
  api::CompileOptions options;
  options.machine_code = !measure::is_simulated(device);
  TW_TRY(runtime::Executable compiled, api::compile(network, target, nullptr, options));
  return std::make_shared<const runtime::Executable>(std::move(compiled));
}

Expected<std::vector<HostArray>> outputs_for(const CompiledCase& e, const TensorMap& inputs, const std::string& device) {
  TW_TRY(const auto executor, make_executor(e, device));
  TW_CHECK(executor->set_inputs(inputs));
  TW_CHECK(executor->run());
  return executor->outputs();
}

/// Folds what differs into `result`.
void compare_case(const HostArray& found, const HostArray& wanted, const CaseOptions& options, const std::string& where, CaseResult& result) {
  Tolerance tolerance = tolerance_for(wanted.dtype);
  if (options.rtol >= 0 || options.atol >= 0) tolerance = {std::max(options.rtol, 0.0), std::max(options.atol, 0.0)};
  const Comparison difference = compare_elements(found, wanted, tolerance);
  result.max_abs = std::max(result.max_abs, difference.max_abs);
  result.max_rel = std::max(result.max_rel, difference.max_rel);
  if (difference.wrong.empty() || result.status == "wrong") return;
  result.status = "wrong";
  result.reason = fmt::format("{}: {}", where, difference.wrong);
}

Error outputs_differ(size_t wanted, size_t found) { return Error(ErrorCode::internal, fmt::format("Expected {} outputs, found {}", wanted, found)); }

/// Imports, compiles, runs and compares one data set; folds its errors into `result`. Inputs that hold shapes or axes become constants at import.
Expected<void> run_data_set(const std::string& folder, int number, const Target& target, const CaseOptions& options, CaseResult& result) {
  const bool exported = fs::exists(fs::path(folder) / "model.pt2");
  const auto any_file = [](const std::string& stem) { return read_array(stem, nullptr); };
  TW_TRY(frontends::OnnxCase c, exported ? read_pt2_case(folder, number) : frontends::read_onnx_case(folder, number, any_file));
  TW_TRY(const CompiledCase e, compiled_case(c.graph, target, options.device));
  TensorMap named;
  for (size_t i = 0; i < c.inputs.size(); ++i) named[c.graph.values[c.graph.inputs[i]].name] = std::move(c.inputs[i]);
  TensorMap taken;  // what passes found to be of no use is no input of the program any more
  for (int slot : e->inputs) {
    const auto it = named.find(e->slots[slot].spec.name);
    if (it != named.end()) taken.insert(*it);
  }
  TW_TRY(const std::vector<HostArray> got, outputs_for(e, taken, options.device));
  if (got.size() != c.outputs.size()) return outputs_differ(c.outputs.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) compare_case(c.plain(i, got[i]), c.plain(i, c.outputs[i]), options, fmt::format("Output {} of data set {}", i, number), result);
  return {};
}

/// The same for a TorchScript file, with libtorch's own numbers.
Expected<void> run_torchscript_case(const std::string& path, const Target& target, const CaseOptions& options, CaseResult& result) {
  constexpr uint64_t kSeed = 1;
  TW_TRY(const frontends::ImportOptions shapes, import_options({}, options.shapes));
  TW_TRY(const graph::Graph graph, frontends::read_torchscript(path, shapes));
  TW_TRY(const CompiledCase e, compiled_case(graph, target, options.device));
  TensorMap inputs = measure::random_inputs(*e, kSeed);
  std::vector<HostArray> ordered;
  for (const int v : graph.inputs) {
    const graph::Value& input = graph.values[static_cast<size_t>(v)];
    const auto it = inputs.find(input.name);
    ordered.push_back(it != inputs.end() ? it->second : HostArray::make(input.type.dtype, input.type.shape));
  }
  TW_TRY(const std::vector<HostArray> wanted, frontends::run_torchscript(path, ordered));
  TW_TRY(const std::vector<HostArray> got, outputs_for(e, inputs, options.device));
  if (got.size() != wanted.size()) return outputs_differ(wanted.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) compare_case(got[i], wanted[i], options, fmt::format("Output {}", i), result);
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
  if (frontends::is_torchscript(path)) return std::vector{path};
  if (!fs::is_directory(path, ec)) return Error(ErrorCode::not_found, fmt::format("Expected a folder of test cases or a TorchScript file, found neither at '{}'", path));
  const auto is_case = [](const fs::path& folder) { return fs::exists(folder / "model.onnx") || fs::exists(folder / "model.pt2"); };
  std::vector<std::string> cases;
  if (is_case(path)) cases.push_back(path);
  for (const auto& entry : fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    if (entry.is_directory() && is_case(entry.path())) cases.push_back(entry.path().string());
  }
  if (cases.empty()) return Error(ErrorCode::not_found, fmt::format("Expected folders with a model.onnx or model.pt2 below '{}', found none", path));
  std::sort(cases.begin(), cases.end());
  return cases;
}

CaseResult run_case(const std::string& folder, const Target& target, const CaseOptions& options) {
  CaseResult result{{}, "passed", {}};
  if (!fs::is_directory(folder)) {
    const auto done = run_torchscript_case(folder, target, options, result);
    return done ? result : failed(done.error());
  }
  int sets = 0;
  for (; fs::is_directory(fs::path(folder) / fmt::format("test_data_set_{}", sets)); ++sets) {
    if (auto r = run_data_set(folder, sets, target, options, result); !r) return failed(r.error());
  }
  if (sets == 0) return {{}, "unsupported", "The folder has no test_data_set_0"};
  return result;
}

}  // namespace tw::cli
