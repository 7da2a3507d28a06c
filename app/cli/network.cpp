// SPDX-License-Identifier: Apache-2.0
#include "app/cli/network.h"

#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/logs/recorded_space.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/process/temporary_folder.h"
#include "engine/space/own/operators.h"

namespace tw::cli {
void add_network_options(Subcommand sub, NetworkOptions& options) {
  sub.option("model", options.model, "ONNX file, a program exported by PyTorch (.pt2), TorchScript (.pt), a computation of one's own (.te), or a recorded space (a file, or space:NAME of `tw space list`)").input().required();
  sub.option("--target", options.target,
             "What the code is for: llvm (this machine), `llvm -mcpu=NAME`, a known processor's name, cuda (this machine's GPU), or `cuda:NAME` for one such "
             "as a100; `cuda:a100,tf32` may round products in float32 to TF32")
      .show_default();
  sub.option("--dim", options.dims, "Value of a symbolic dimension, as name=value, or INPUT.AXIS=value; or of an input of an ONNX file that is one integer, as INPUT=value, which fixes it; may be repeated");
  sub.option("--input-shape", options.shapes, "Shape of an input that the file leaves open altogether, as TorchScript does, and some of ONNX: x=1,3,224,224, or ids=1,128:int64 with its type; may be repeated");
  options.preparation.declare(sub);
  sub.option("--import-memory", options.import_gib,
             "GiB of memory that reading the model and computing its constants may take; 0: 1 and sixteen times the size of its files")
      .range(0.0, 65536.0);
  sub.option("--import-seconds", options.import_seconds, "Seconds that it may take, beside a second for each 10 MB").range(0.1, 86400.0).show_default();
}

namespace {

/// The text of a recorded space as a network for the target that it was recorded for.
std::optional<LoadedNetwork> load_space(const NetworkOptions& options, const std::string& file, int& exit) {
  const auto space = logs::read_recorded_space(file);
  if (!space) {
    exit = fail_input(space.error());
    return std::nullopt;
  }
  const std::string target = space->task.target.str();
  const auto asked = measure::target_named(options.target);
  if (options.target != NetworkOptions().target && (!asked || asked->str() != target)) {
    exit = fail_usage(fmt::format("Expected no --target, or the recorded '{}', found '{}'", target, printable(options.target)));
    return std::nullopt;
  }
  const auto folder = process::TemporaryFolder::create();
  const std::string path = space->task.name + ".te";
  const auto written = folder ? write_file(folder->path() + "/" + path, kAnyOutput, space->text) : Expected<void>(folder.error());
  if (!written) {
    exit = fail(written.error());
    return std::nullopt;
  }
  NetworkOptions as_text = options;
  as_text.model = folder->path() + "/" + path;
  as_text.target = target;
  auto loaded = load_network(as_text, exit);
  if (loaded) loaded->path = path, loaded->recorded = std::string(records::kRecordedDevice) + options.model;
  return loaded;
}

}  // namespace

std::optional<LoadedNetwork> load_network(const NetworkOptions& options, int& exit, const graph::PassHooks& hooks) {
  const auto file = logs::space_file(options.model);
  if (!file) {
    exit = fail_usage(file.error().message);
    return std::nullopt;
  }
  if (logs::is_recorded_space(*file)) return load_space(options, *file, exit);
  auto target = measure::target_named(options.target);
  if (!target) {
    exit = fail_usage(target.error().text());
    return std::nullopt;
  }
  if (space::own::find_operator(options.model) && !std::filesystem::exists(options.model)) {
    exit = fail_usage(fmt::format("Expected a file, found the operator '{0}'; `tw task create {0}` writes {0}.te", options.model));
    return std::nullopt;
  }
  auto import = import_options(options.dims, options.shapes);
  if (!import) {
    exit = fail(import.error());
    return std::nullopt;
  }
  const auto choices = options.preparation.given();
  const auto prepared = choices ? api::passes_for(*choices) : Expected<graph::PassHooks>(choices.error());
  if (!prepared) {
    exit = fail_usage(prepared.error().message);
    return std::nullopt;
  }
  graph::PassHooks all = hooks;
  all.enabled.insert(all.enabled.end(), prepared->enabled.begin(), prepared->enabled.end());
  const api::ImportLimits limits{static_cast<int64_t>(options.import_gib * (int64_t{1} << 30)), options.import_seconds, {}};
  auto network = api::import_network_apart(options.model, *target, *import, limits, stop_token(), all);
  if (!network) {
    Error e = std::move(network).error();
    const bool limited = e.code == ErrorCode::resource_limit || e.code == ErrorCode::timeout;
    exit = fail_input(limited ? std::move(e).note("--import-memory and --import-seconds allow more") : std::move(e));
    return std::nullopt;
  }
  return LoadedNetwork{std::move(*network), std::move(*target), options.model, {}};
}

}  // namespace tw::cli
