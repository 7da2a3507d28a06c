// SPDX-License-Identifier: Apache-2.0
#include "app/cli/reference.h"

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/npy.h"
#include "app/cli/subprocess.h"
#include "engine/api/compile.h"
#include "engine/base/text.h"

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

struct WorkerOptions {
  std::string model, folder;
};

int reference_worker(const WorkerOptions& o) {
  become_child();
  const auto done = compute(o.model, o.folder);
  return done ? kDone : fail(done.error());
}

}  // namespace

Expected<std::vector<HostArray>> reference_outputs(const std::string& executable_path, const runtime::Executable& executable, const TensorMap& inputs,
                                                   StopToken stop) {
  if (executable.graph_text.empty()) return Error(ErrorCode::not_applicable, fmt::format("'{}' carries no graph to check against", executable_path));
  TW_TRY(const graph::Graph graph, graph::parse(executable.graph_text, executable.graph_constants));
  TW_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const graph::Value& value = graph.values[graph.inputs[i]];
    const auto found = inputs.find(value.name);
    // An input that no kernel reads is not an argument of the executable; any value will do.
    const HostArray& a = found != inputs.end() ? found->second : HostArray::make(value.type.dtype, value.type.shape);
    TW_CHECK(write_npy(a, numbered(folder.path(), "in", i)));
  }
  TW_TRY(const int code, run_self({"reference-worker", executable_path, folder.path()}, stop));
  if (code != kDone) return Error(ErrorCode::internal, "The reference could not be computed; the error above says why");
  std::vector<HostArray> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    TW_TRY(HostArray a, read_npy(numbered(folder.path(), "out", i)));
    outputs.push_back(restore_type(std::move(a), graph.values[graph.outputs[i]].type.dtype));
  }
  return outputs;
}

void add_reference_worker(CLI::App& app, Run& run) {
  auto o = std::make_shared<WorkerOptions>();
  CLI::App* sub = declare(app, run, "reference-worker", "Child of `tw run --check`", o, reference_worker)->group("");
  sub->add_option("model", o->model)->required();
  sub->add_option("folder", o->folder)->required();
}

}  // namespace tw::cli
