// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>

#include "engine/base/text.h"
#include "engine/frontends/torch/limits.h"
#include "engine/frontends/torch/torch_importer.h"
#include "engine/learner/script.h"

namespace tw::frontends {

namespace {

Error in_script(Error e, const std::string& path) {
  e.where = e.where.empty() ? path : path + ", " + e.where;
  return e;
}

/// The archive is looked through before another process reads it.
Expected<std::vector<learner::ScriptInput>> inputs_in(const std::string& path, const learner::ScriptOptions& options) {
  TW_TRY([[maybe_unused]] const ZipArchive archive, ZipArchive::open(path, true));
  return learner::script_inputs(path, options);
}

/// What the command line takes and a person reads: `x=1,3,224,224`.
std::string shape_argument(const learner::ScriptInput& input) { return fmt::format("{}={}", input.name, fmt::join(input.proposal.shape, ",")); }

/// An input as the caller wants it, or as the file proposes where it knows.
learner::ScriptTensor wanted(const learner::ScriptInput& input, const ImportOptions& options, std::vector<std::string>& used) {
  learner::ScriptTensor t = input.proposal;
  bool decided = input.traced;
  if (const auto given = options.shapes.find(input.name); given != options.shapes.end()) {
    t.shape = given->second.shape;
    if (given->second.type) t.type = torch_of_dtype(*given->second.type);
    decided = true;
  }
  size_t single = 0;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    const auto given = options.dims.find(fmt::format("{}.{}", input.name, d));
    if (given == options.dims.end()) continue;
    used.push_back(given->first);
    t.shape[d] = given->second;
    ++single;
  }
  if (!decided && (single < t.shape.size() || t.shape.empty())) {
    const std::string example = t.shape.empty() ? input.name + "=1,3,224,224" : shape_argument(input);
    const std::string reason = input.reason.empty() ? "" : fmt::format(", as {} propose{}", input.reason, input.reason.starts_with("a ") ? "s" : "");
    refuse(ErrorCode::invalid_argument,
           fmt::format("Expected a shape of the input '{}', which this TorchScript file does not hold: --input-shape {}{}", input.name, example, reason));
  }
  return t;
}

learner::ScriptShapes wanted_shapes(const std::vector<learner::ScriptInput>& inputs, const ImportOptions& options) {
  // A misspelt name is what to say first: the input that it means would be said to lack its shape.
  std::vector<std::string> names;
  for (const learner::ScriptInput& input : inputs) names.push_back(printable(input.name));
  for (const auto& [name, shape] : options.shapes)
    if (std::none_of(inputs.begin(), inputs.end(), [&](const learner::ScriptInput& input) { return input.name == name; }))
      refuse(ErrorCode::invalid_argument, fmt::format("Expected a shape of '{}', found one of '{}', which is no input", fmt::join(names, "', '"), printable(name)));
  learner::ScriptShapes shapes;
  std::vector<std::string> used;
  for (const learner::ScriptInput& input : inputs) shapes[input.name] = wanted(input, options, used);
  for (const auto& [name, value] : options.dims)
    if (std::find(used.begin(), used.end(), name) == used.end())
      refuse(ErrorCode::invalid_argument, fmt::format("No input has a dimension called '{}'; TorchScript's are called INPUT.AXIS", printable(name)));
  return shapes;
}

HostArray array_of(learner::ScriptTensor&& t, const std::string& where) {
  HostArray a{dtype_of_torch(t.type, where), std::move(t.shape), std::move(t.bytes)};
  if (static_cast<int64_t>(a.data.size()) != a.num_elements() * a.dtype.bytes()) refuse(ErrorCode::corrupt, "Expected the bytes of a tensor, found more or fewer", where);
  return a;
}

graph::Graph imported_script(const std::string& path, const ImportOptions& options) {
  const learner::ScriptOptions apart{.memory_bytes = options.apart_bytes, .room = options.room};
  const auto inputs = checked(inputs_in(path, apart));
  learner::ScriptProgram script = checked(learner::script_program(path, wanted_shapes(inputs, options), apart));
  std::map<std::string, std::shared_ptr<const HostArray>> tensors;
  for (auto& [name, tensor] : script.tensors)
    tensors[name] = std::make_shared<const HostArray>(array_of(std::move(tensor), fmt::format("tensor '{}'", printable(name.substr(0, 256)))));
  script.tensors.clear();
  Program program = Program::of(std::move(script.document), std::move(tensors));
  ImportOptions rest = options;
  rest.dims.clear();  // the program was made for them
  TorchImporter importer(program, rest);
  graph::Graph graph = importer.run();
  if (options.reading) *options.reading = importer.log().rows();
  return graph;
}

}  // namespace

bool is_torchscript(const std::string& path) {
  if (std::error_code ec; !std::filesystem::is_regular_file(path, ec)) return false;
  char start[2] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  if (start[0] != 'P' || start[1] != 'K') return false;
  const auto archive = ZipArchive::open(path, true);
  if (!archive) return false;
  return std::any_of(archive->members().begin(), archive->members().end(), [](const auto& m) { return m.first.ends_with("/constants.pkl") || m.first.find("/code/__torch__") != std::string::npos; });
}

Expected<std::vector<OpenSize>> open_sizes_of_torchscript(const std::string& path, const ImportOptions& options) {
  const auto inputs = inputs_in(path, {.memory_bytes = options.apart_bytes});
  if (!inputs) return in_script(inputs.error(), path);
  std::vector<OpenSize> out;
  for (const learner::ScriptInput& input : *inputs)
    for (size_t d = 0; d < input.proposal.shape.size(); ++d) {
      const std::string name = fmt::format("{}.{}", input.name, d);
      out.push_back({.name = name, .places = {name}, .proposal = input.proposal.shape[d], .required = !input.traced});
    }
  return out;
}

Expected<graph::Graph> read_torchscript(const std::string& path, const ImportOptions& options) {
  try {
    graph::Graph graph = imported_script(path, options);
    if (graph.name.empty() || graph.name == "model") graph.name = std::filesystem::path(path).stem().string().substr(0, 256);
    return graph;
  } catch (Refusal& refusal) {
    return in_script(std::move(refusal.error), path);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_limit, "Expected a model whose constants fit in memory, found larger ones", path);
  }
}

Expected<std::vector<HostArray>> run_torchscript(const std::string& path, std::span<const HostArray> inputs) {
  std::vector<learner::ScriptTensor> given;
  for (const HostArray& a : inputs) given.push_back({torch_of_dtype(a.dtype), a.shape, a.data});
  auto results = learner::run_script(path, given);
  if (!results) return in_script(std::move(results).error(), path);
  try {
    std::vector<HostArray> out;
    for (learner::ScriptTensor& t : *results) out.push_back(array_of(std::move(t), path));
    return out;
  } catch (Refusal& refusal) {
    return std::move(refusal.error);
  }
}

}  // namespace tw::frontends
