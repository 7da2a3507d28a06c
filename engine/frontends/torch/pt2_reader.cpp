// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <new>

#include "engine/base/text.h"
#include "engine/frontends/torch/symbols.h"
#include "engine/frontends/torch/torch_importer.h"

namespace tw::frontends {

namespace {

Expected<graph::Graph> import_program(const std::string& path, const ImportOptions& options) {
  TW_TRY(Program program, Program::open(path));
  try {
    TorchImporter importer(program, options);
    graph::Graph graph = importer.run();
    if (options.reading) *options.reading = importer.log().rows();
    return graph;
  } catch (Refusal& refusal) {
    return std::move(refusal.error);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_limit, "Expected a model whose constants fit in memory, found larger ones");
  }
}

/// Symbols of the sizes of user inputs, with their ranges and their values in the example.
std::vector<OpenSize> open_sizes_in(const Program& program) {
  const Json& module = program.graph_module();
  const Json& tensors = field(field(module, "graph", "the program"), "tensor_values", "the graph");
  std::vector<OpenSize> out;
  for (const Json& spec : field(field(module, "signature", "the program"), "input_specs", "the signature")) {
    const auto [kind, body] = union_of(spec, "an input's description");
    if (kind != "user_input") continue;
    const auto [type, value] = union_of(field(*body, "arg", "an input's description"), "an input");
    if (type != "as_tensor") continue;
    const std::string input = text_of(field(*value, "name", "an input"), "an input");
    const Json* meta = optional_field(tensors, input.c_str());
    if (!meta) continue;
    const TensorMeta m = tensor_meta(*meta, input);
    for (size_t d = 0; d < m.sizes.size(); ++d) {
      const auto symbol = only_symbol(m.sizes[d].expression);
      if (!symbol) continue;
      const std::string place = fmt::format("{}.{}", input, d);
      if (const auto known = std::find_if(out.begin(), out.end(), [&](const OpenSize& s) { return s.name == *symbol; }); known != out.end()) {
        known->places.push_back(place);
        continue;
      }
      OpenSize size{.name = *symbol, .places = {place}, .proposal = symbol_for(m.sizes[d].expression, *symbol, m.sizes[d].number).value_or(1)};
      const Json* range = program.ranges() ? optional_field(*program.ranges(), symbol->c_str()) : nullptr;
      if (range) {
        const Json *low = optional_field(*range, "min_val"), *high = optional_field(*range, "max_val");
        if (low && low->is_number_integer()) size.least = least_size(low->get<int64_t>());
        if (high && high->is_number_integer()) size.most = high->get<int64_t>();
      }
      out.push_back(std::move(size));
    }
  }
  return out;
}

Error placed_in(Error e, const std::string& path) {
  e.where = e.where.empty() ? path : path + ", " + e.where;
  return e;
}

}  // namespace

Expected<std::vector<OpenSize>> open_sizes_of_pt2(const std::string& path) {
  auto program = Program::open(path);
  if (!program) return placed_in(std::move(program).error(), path);
  try {
    return open_sizes_in(*program);
  } catch (Refusal& refusal) {
    return placed_in(std::move(refusal.error), path);
  }
}

Expected<graph::Graph> read_pt2(const std::string& path, const ImportOptions& options) {
  auto graph = import_program(path, options);
  if (!graph) return placed_in(std::move(graph).error(), path);
  if (graph->name.empty() || graph->name == "model") graph->name = std::filesystem::path(path).stem().string().substr(0, 256);
  return graph;
}

}  // namespace tw::frontends
