// SPDX-License-Identifier: Apache-2.0
#include "app/cli/reference.h"

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/npy.h"
#include "engine/base/text.h"
#include "engine/process/subprocess.h"
#include "engine/process/temporary_folder.h"
#include "engine/target/target.h"

namespace tw::cli {
namespace {

std::string numbered(const std::string& folder, const char* kind, size_t number) { return fmt::format("{}/{}{}.npy", folder, kind, number); }

/// NumPy's files carry bfloat16 as float32.
HostArray restore_type(HostArray a, DType dtype) {
  if (a.dtype == dtype) return a;
  HostArray out = HostArray::make(dtype, a.shape);
  for (int64_t i = 0, n = a.num_elements(); i < n; ++i) out.set(i, a.get(i));
  return out;
}

Expected<void> compute(const std::string& model, const std::string& folder) {
  TW_TRY(const runtime::Executable executable, runtime::load_executable(model));
  TW_TRY(const graph::Graph graph, graph::parse(executable.graph_text, executable.graph_constants));
  TensorMap inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::Value& value = graph.values[graph.inputs[i]];
    TW_TRY(HostArray a, read_npy(numbered(folder, "in", i)));
    inputs[value.name] = restore_type(std::move(a), value.type.dtype);
  }
  TW_TRY(const auto outputs, api::run_reference(graph, inputs, host_target()));
  for (size_t i = 0; i < outputs.size(); ++i) TW_CHECK(write_npy(outputs[i], numbered(folder, "out", i)));
  return {};
}

struct ReferenceWorkerOptions {
  std::string model, folder;
};

int reference_worker(const ReferenceWorkerOptions& o) {
  process::become_child();
  const auto done = compute(o.model, o.folder);
  return done ? kDone : fail(done.error());
}

}  // namespace

Expected<ReferenceOutputs> reference_outputs(const std::string& executable_path, const runtime::Executable& executable, const TensorMap& inputs,
                                             StopToken stop) {
  if (executable.graph_text.empty()) return Error(ErrorCode::not_applicable, fmt::format("'{}' carries no graph to check against", executable_path));
  TW_TRY(const graph::Graph graph, graph::parse(executable.graph_text, executable.graph_constants));
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::Value& value = graph.values[graph.inputs[i]];
    const auto found = inputs.find(value.name);
    // An input that no kernel reads is not an argument of the executable; any value will do.
    const HostArray& a = found != inputs.end() ? found->second : HostArray::make(value.type.dtype, value.type.shape);
    TW_CHECK(write_npy(a, numbered(folder.path(), "in", i)));
  }
  TW_TRY(const int code, process::run_self({"reference-worker", executable_path, folder.path()}, stop));
  if (code != kDone) return Error(ErrorCode::internal, "The reference could not be computed; the error above says why");
  ReferenceOutputs want;
  TW_TRY(const Target target, parse_target(executable.target));
  TW_TRY(want.tolerances, api::output_tolerances(graph, target.allows_tf32()));
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    TW_TRY(HostArray a, read_npy(numbered(folder.path(), "out", i)));
    want.arrays.push_back(restore_type(std::move(a), graph.values[graph.outputs[i]].type.dtype));
  }
  return want;
}

Expected<Check> check_outputs(const ReferenceOutputs& want, const std::vector<HostArray>& got, std::optional<double> tolerance) {
  if (want.arrays.size() != got.size())
    return Error(ErrorCode::internal, fmt::format("Expected {} outputs as the reference has, found {}", want.arrays.size(), got.size()));
  Check check;
  for (size_t i = 0; i < got.size(); ++i) {
    if (want.arrays[i].dtype != got[i].dtype || want.arrays[i].shape != got[i].shape)
      return Error(ErrorCode::wrong_result, fmt::format("Output {} differs in type or shape", i));
    const api::Difference d = api::compare(got[i], want.arrays[i]);
    check.outputs.push_back(d);
    check.tolerances.push_back(tolerance.value_or(want.tolerances[i]));
    check.max_abs = std::max(check.max_abs, d.max_abs);
    check.max_rel = std::max(check.max_rel, d.max_rel);
    check.passed = check.passed && d.max_rel <= check.tolerances.back();
  }
  return check;
}

std::string check_text(const Check& check) {
  std::string verdict = "passed";
  for (size_t i = 0; i < check.outputs.size(); ++i)
    if (!(check.outputs[i].max_rel <= check.tolerances[i])) verdict = fmt::format("output {} is above {:.3g} relative", i, check.tolerances[i]);
  return fmt::format("{:.3g} relative, {:.3g} absolute against the reference: {}", check.max_rel, check.max_abs, verdict);
}

void add_reference_worker(Subcommand app, Run& run) {
  auto o = std::make_shared<ReferenceWorkerOptions>();
  Subcommand sub = app.command(run, "reference-worker", "Child of `tw run --check`", o, reference_worker);
  sub.hide();
  sub.option("model", o->model, "Model").required();
  sub.option("folder", o->folder, "Folder of the inputs and outputs").required();
}

}  // namespace tw::cli
