// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executable_json.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/runtime/workspace.h"

namespace tw::runtime {

namespace {

constexpr const char* kKindNames[] = {"input", "output", "constant", "intermediate"};

Error malformed(const std::string& what) { return Error(ErrorCode::parse_error, fmt::format("Expected {} in the description of the executable", what)); }
Error unfit(const std::string& what) { return Error(ErrorCode::corrupt, what); }

Expected<const Json*> member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return malformed(fmt::format("the key \"{}\"", key));
  return &json[key];
}
Expected<std::string> text(const Json& json, const char* key) {
  TW_TRY(const Json* v, member(json, key));
  if (!v->is_string()) return malformed(fmt::format("text as \"{}\"", key));
  return v->get<std::string>();
}
Expected<int64_t> integer(const Json& json, const char* key) {
  TW_TRY(const Json* v, member(json, key));
  if (!v->is_number_integer()) return malformed(fmt::format("an integer as \"{}\"", key));
  return v->get<int64_t>();
}
Expected<const Json*> list(const Json& json, const char* key) {
  TW_TRY(const Json* v, member(json, key));
  if (!v->is_array()) return malformed(fmt::format("a list as \"{}\"", key));
  return v;
}
Expected<std::vector<int>> indices(const Json& json, const char* key) {
  TW_TRY(const Json* v, list(json, key));
  std::vector<int> out;
  for (const Json& i : *v) {
    if (!i.is_number_integer() || i.get<int64_t>() < 0 || i.get<int64_t>() > INT32_MAX) return malformed(fmt::format("a list of indices as \"{}\"", key));
    out.push_back(i.get<int>());
  }
  return out;
}

Expected<Slot> slot_from_json(const Json& json, std::span<const std::shared_ptr<const ArrayBytes>> blobs) {
  Slot slot;
  TW_TRY(const std::string kind, text(json, "kind"));
  const auto* it = std::find(std::begin(kKindNames), std::end(kKindNames), kind);
  if (it == std::end(kKindNames)) return malformed(fmt::format("a kind of slot, found \"{}\"", kind));
  slot.kind = static_cast<Slot::Kind>(it - std::begin(kKindNames));
  TW_TRY(const Json* spec, member(json, "spec"));
  TW_TRY(slot.spec, arg_spec_from_json(*spec));
  TW_TRY(slot.offset, integer(json, "offset"));
  TW_TRY(const int64_t data, integer(json, "data"));
  if (data >= static_cast<int64_t>(blobs.size())) return unfit(fmt::format("Slot \"{}\" names constant {} of {}", slot.spec.name, data, blobs.size()));
  if (data >= 0) slot.data = blobs[static_cast<size_t>(data)];
  if (const auto packed = json.find("packed"); packed != json.end()) {
    if (!packed->is_boolean()) return malformed("\"packed\" as true or false");
    slot.packed = packed->get<bool>();
  }
  return slot;
}

Expected<std::shared_ptr<const HostArray>> graph_constant_from_json(const Json& json, std::span<const std::shared_ptr<const ArrayBytes>> blobs) {
  HostArray array;
  TW_TRY(const std::string dtype, text(json, "dtype"));
  TW_TRY(array.dtype, parse_dtype(dtype));
  TW_TRY(const Json* shape, list(json, "shape"));
  __int128 bytes = array.dtype.bytes();
  for (const Json& e : *shape) {
    if (!e.is_number_integer() || e.get<int64_t>() < 0) return malformed("extents as a shape");
    array.shape.push_back(e.get<int64_t>());
    if ((bytes *= array.shape.back()) > INT64_MAX) return unfit("A constant of the graph is larger than any memory");
  }
  TW_TRY(const int64_t data, integer(json, "data"));
  if (data < 0 || data >= static_cast<int64_t>(blobs.size())) return unfit(fmt::format("A constant of the graph names bytes {} of {}", data, blobs.size()));
  array.data = *blobs[static_cast<size_t>(data)];
  if (static_cast<__int128>(array.data.size()) != bytes)
    return unfit(fmt::format("A constant of the graph of shape {} has {} bytes", shape_text(array.shape), array.data.size()));
  return std::make_shared<const HostArray>(std::move(array));
}

Expected<Call> call_from_json(const Json& json) {
  Call call;
  TW_TRY(call.symbol, text(json, "symbol"));
  TW_TRY(call.name, text(json, "name"));
  TW_TRY(call.slots, indices(json, "slots"));
  TW_TRY(call.task_key, text(json, "task_key"));
  TW_TRY(call.origin, text(json, "origin"));
  if (json.contains("space")) {  // not in files of the first versions
    TW_TRY(call.space, text(json, "space"));
    TW_TRY(call.record, text(json, "record"));
  }
  TW_TRY(const Json* flops, member(json, "flops"));
  if (!flops->is_number()) return malformed("a number as \"flops\"");
  call.flops = flops->get<double>();
  if (json.contains("function_calls")) {  // not in files of earlier versions
    TW_TRY(const Json* functions, member(json, "function_calls"));
    if (!functions->is_number()) return malformed("a number as \"function_calls\"");
    call.function_calls = functions->get<double>();
  }
  if (json.contains("unread_bytes")) {  // likewise
    TW_TRY(const Json* unread, member(json, "unread_bytes"));
    if (!unread->is_number()) return malformed("a number as \"unread_bytes\"");
    call.unread_bytes = unread->get<double>();
  }
  TW_TRY(const Json* nodes, list(json, "nodes"));
  for (const Json& node : *nodes) {
    if (!node.is_string()) return malformed("node names as text");
    call.nodes.push_back(node.get<std::string>());
  }
  if (json.contains("alone_s")) {  // not in files of earlier versions
    TW_TRY(const Json* alone, member(json, "alone_s"));
    if (!alone->is_number()) return malformed("a number as \"alone_s\"");
    call.alone_s = alone->get<double>();
    TW_TRY(call.alone_weights, text(json, "alone_weights"));
  }
  if (const auto host = json.find("on_host"); host != json.end()) {  // not in files of version 2
    if (!host->is_boolean()) return malformed("\"on_host\" as true or false");
    call.on_host = host->get<bool>();
  }
  if (const auto claimed = json.find("claimed"); claimed != json.end()) {  // not in files of earlier versions
    if (!claimed->is_boolean()) return malformed("\"claimed\" as true or false");
    call.claimed = claimed->get<bool>();
  }
  return call;
}

Json gpu_to_json(const GpuFunction& f, Blobs& blobs) {
  Json json = to_json(f);
  json["images"] = Json::array();
  for (const auto& [capability, image] : f.images) json["images"].push_back(Json{{"capability", capability}, {"data", blobs.add(image)}});
  return json;
}

Expected<GpuFunction> gpu_from_json(const Json& json, std::span<const std::shared_ptr<const ArrayBytes>> blobs) {
  TW_TRY(GpuFunction f, gpu_function_from_json(json));
  TW_TRY(const Json* images, list(json, "images"));
  for (const Json& image : *images) {
    TW_TRY(const int64_t capability, integer(image, "capability"));
    TW_TRY(const int64_t data, integer(image, "data"));
    if (data < 0 || data >= static_cast<int64_t>(blobs.size()) || capability < 0 || capability > INT16_MAX)
      return unfit(fmt::format("An image of the kernel \"{}\" names bytes {} of {}", f.symbol, data, blobs.size()));
    const ArrayBytes& bytes = *blobs[static_cast<size_t>(data)];
    f.images[static_cast<int>(capability)].assign(bytes.begin(), bytes.end());
  }
  return f;
}

int64_t row_major_bytes(const ArgSpec& spec) {
  int64_t bytes = spec.dtype.bytes();
  for (const int64_t extent : spec.shape) bytes *= extent;
  return bytes;
}

Expected<void> check_slot(const Executable& e, const Slot& slot) {
  const int64_t bytes = slot.spec.physical_bytes();
  switch (slot.kind) {
    case Slot::Kind::constant:
      if (!slot.data) return unfit(fmt::format("Constant \"{}\" has no data", slot.spec.name));
      if (const int64_t needed = slot.packed ? bytes : row_major_bytes(slot.spec); static_cast<int64_t>(slot.data->size()) != needed)
        return unfit(fmt::format("Constant \"{}\" needs {} bytes, found {}", slot.spec.name, needed, slot.data->size()));
      return {};
    case Slot::Kind::intermediate:
      if (slot.offset < 0 || slot.offset % kArrayAlign != 0 || slot.offset > e.arena_bytes || bytes > e.arena_bytes - slot.offset)
        return unfit(
            fmt::format("Array \"{}\" of {} bytes at offset {} does not fit the arena of {} bytes", slot.spec.name, bytes, slot.offset, e.arena_bytes));
      return {};
    case Slot::Kind::input:
    case Slot::Kind::output:
      return {};
  }
  TW_UNREACHABLE("slot kind");
}

Expected<void> check_call(const Executable& e, const Call& call, const std::unordered_map<std::string, const KernelSignature*>& kernels) {
  const auto it = kernels.find(call.symbol);
  if (it == kernels.end()) return unfit(fmt::format("Call \"{}\" names the kernel \"{}\", which is not in the file", call.name, call.symbol));
  const auto& args = it->second->args;
  if (args.size() != call.slots.size())
    return unfit(fmt::format("Kernel \"{}\" takes {} arrays, call \"{}\" gives {}", call.symbol, args.size(), call.name, call.slots.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    const int s = call.slots[i];
    if (s < 0 || s >= static_cast<int>(e.slots.size())) return unfit(fmt::format("Call \"{}\" names slot {} of {}", call.name, s, e.slots.size()));
    const ArgSpec& slot = e.slots[static_cast<size_t>(s)].spec;
    if (slot.dtype == args[i].dtype && slot.physical_bytes() == args[i].physical_bytes()) continue;
    return unfit(fmt::format("Kernel \"{}\" wants {} {} as argument {}, call \"{}\" gives {} {}", call.symbol, args[i].dtype.name(),
                             shape_text(args[i].physical_shape()), i, call.name, slot.dtype.name(), shape_text(slot.physical_shape())));
  }
  return {};
}

/// What does not run on the processor needs a function of the GPU with as many arguments.
Expected<void> check_gpu_calls(const Executable& e) {
  if (!e.artifact.target.starts_with("cuda")) return {};
  std::unordered_map<std::string, const GpuFunction*> functions;
  for (const GpuFunction& f : e.artifact.gpu) functions[f.symbol] = &f;
  for (const Call& call : e.calls) {
    if (call.on_host) continue;
    const auto it = functions.find(call.symbol);
    if (it == functions.end()) return unfit(fmt::format("Call \"{}\" names the kernel \"{}\", for which the file has no GPU code", call.name, call.symbol));
    if (it->second->arguments != static_cast<int>(call.slots.size()))
      return unfit(
          fmt::format("The GPU code of \"{}\" takes {} arrays, call \"{}\" gives {}", call.symbol, it->second->arguments, call.name, call.slots.size()));
  }
  return {};
}

}  // namespace

int Blobs::add(std::span<const std::byte> bytes) {
  const std::pair place(bytes.data(), bytes.size());
  if (const auto it = by_address_.find(place); it != by_address_.end()) return it->second;
  const std::string key = content_key({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const auto [it, fresh] = by_content_.emplace(key, static_cast<int>(list_.size()));
  if (fresh) list_.push_back(bytes);
  return by_address_[place] = it->second;
}

Json executable_to_json(const Executable& e, Blobs& blobs) {
  Json kernels = Json::array(), slots = Json::array(), calls = Json::array(), graph_constants = Json::array();
  for (const auto& [key, array] : e.graph_constants) {
    graph_constants.push_back(Json{{"key", key}, {"dtype", array->dtype.name()}, {"shape", array->shape}, {"data", blobs.add(array->data)}});
  }
  for (const KernelSignature& k : e.artifact.kernels) kernels.push_back(to_json(k));
  for (const Slot& s : e.slots) {
    slots.push_back(Json{{"kind", kKindNames[static_cast<int>(s.kind)]},
                         {"spec", to_json(s.spec)},
                         {"offset", s.offset},
                         {"data", s.data ? blobs.add(*s.data) : -1},
                         {"packed", s.packed}});
  }
  for (const Call& c : e.calls) {
    calls.push_back(Json{{"symbol", c.symbol},
                         {"name", c.name},
                         {"slots", c.slots},
                         {"task_key", c.task_key},
                         {"origin", c.origin},
                         {"space", c.space},
                         {"record", c.record},
                         {"flops", c.flops},
                         {"function_calls", c.function_calls},
                         {"unread_bytes", c.unread_bytes},
                         {"nodes", c.nodes},
                         {"alone_s", c.alone_s},
                         {"alone_weights", c.alone_weights},
                         {"on_host", c.on_host},
                         {"claimed", c.claimed}});
  }
  Json gpu = Json::array();
  for (const GpuFunction& f : e.artifact.gpu) gpu.push_back(gpu_to_json(f, blobs));
  return Json{{"name", e.name},
              {"target", e.target},
              {"artifact_target", e.artifact.target},
              {"host_target", e.artifact.host_target},
              {"kernels", kernels},
              {"gpu", gpu},
              {"slots", slots},
              {"calls", calls},
              {"inputs", e.inputs},
              {"outputs", e.outputs},
              {"arena_bytes", e.arena_bytes},
              {"live_bytes", e.live_bytes},
              {"unplanned_bytes", e.unplanned_bytes},
              {"source_model", e.source_model},
              {"graph", e.graph_text},
              {"graph_constants", graph_constants}};
}

Expected<Executable> executable_from_json(const Json& json, std::span<const std::shared_ptr<const ArrayBytes>> blobs) {
  Executable e;
  TW_TRY(e.name, text(json, "name"));
  TW_TRY(e.target, text(json, "target"));
  TW_TRY(e.artifact.target, text(json, "artifact_target"));
  if (json.contains("host_target")) {  // not in files of earlier versions
    TW_TRY(e.artifact.host_target, text(json, "host_target"));
  }
  TW_TRY(const Json* kernels, list(json, "kernels"));
  for (const Json& k : *kernels) {
    TW_TRY(KernelSignature signature, signature_from_json(k));
    e.artifact.kernels.push_back(std::move(signature));
  }
  if (json.contains("gpu")) {  // not in files of version 2
    TW_TRY(const Json* gpu, list(json, "gpu"));
    for (const Json& f : *gpu) {
      TW_TRY(GpuFunction function, gpu_from_json(f, blobs));
      e.artifact.gpu.push_back(std::move(function));
    }
  }
  TW_TRY(const Json* slots, list(json, "slots"));
  for (const Json& s : *slots) {
    TW_TRY(Slot slot, slot_from_json(s, blobs));
    e.slots.push_back(std::move(slot));
  }
  TW_TRY(const Json* calls, list(json, "calls"));
  for (const Json& c : *calls) {
    TW_TRY(Call call, call_from_json(c));
    e.calls.push_back(std::move(call));
  }
  TW_TRY(e.inputs, indices(json, "inputs"));
  TW_TRY(e.outputs, indices(json, "outputs"));
  TW_TRY(e.arena_bytes, integer(json, "arena_bytes"));
  TW_TRY(e.live_bytes, integer(json, "live_bytes"));
  TW_TRY(e.unplanned_bytes, integer(json, "unplanned_bytes"));
  TW_TRY(e.source_model, text(json, "source_model"));
  TW_TRY(e.graph_text, text(json, "graph"));
  TW_TRY(const Json* graph_constants, list(json, "graph_constants"));
  for (const Json& c : *graph_constants) {
    TW_TRY(std::string key, text(c, "key"));
    TW_TRY(auto array, graph_constant_from_json(c, blobs));
    e.graph_constants.emplace(std::move(key), std::move(array));
  }
  TW_CHECK(check_executable(e));
  return e;
}

Expected<void> check_executable(const Executable& e) {
  if (e.arena_bytes < 0) return unfit(fmt::format("The arena has {} bytes", e.arena_bytes));
  for (const Slot& slot : e.slots) {
    TW_CHECK(check_layout(slot.spec));
    TW_CHECK(check_slot(e, slot));
  }
  const auto check_ends = [&](const std::vector<int>& ends, const char* what) -> Expected<void> {
    for (const int s : ends) {
      if (s < 0 || s >= static_cast<int>(e.slots.size())) return unfit(fmt::format("The {} names slot {} of {}", what, s, e.slots.size()));
    }
    return {};
  };
  TW_CHECK(check_ends(e.inputs, "list of inputs"));
  TW_CHECK(check_ends(e.outputs, "list of outputs"));
  for (const int s : e.inputs) {
    if (e.slots[static_cast<size_t>(s)].kind != Slot::Kind::input)
      return unfit(fmt::format("Input \"{}\" is not an input slot", e.slots[static_cast<size_t>(s)].spec.name));
  }
  std::unordered_map<std::string, const KernelSignature*> kernels;
  for (const KernelSignature& k : e.artifact.kernels) kernels[k.name] = &k;
  for (const Call& call : e.calls) TW_CHECK(check_call(e, call, kernels));
  return check_gpu_calls(e);
}

}  // namespace tw::runtime
