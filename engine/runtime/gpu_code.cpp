// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/gpu_code.h"

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/target/gpu.h"

namespace tw::runtime {

namespace {

/// Systems with the GPU on the processor's chip: their machine code is a world of its own.
bool is_embedded(int capability) { return capability == 53 || capability == 62 || capability == 72 || capability == 87; }

Error not_gpu_code(const std::string& what) { return Error(ErrorCode::parse_error, fmt::format("Expected {} in the description of GPU code", what)); }

Expected<std::array<int64_t, 3>> sizes(const Json& json, const char* key) {
  std::array<int64_t, 3> out{1, 1, 1};
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array() || it->size() != 3) return not_gpu_code(fmt::format("three sizes as \"{}\"", key));
  for (size_t i = 0; i < 3; ++i) {
    if (!(*it)[i].is_number_integer()) return not_gpu_code(fmt::format("three sizes as \"{}\"", key));
    out[i] = (*it)[i].get<int64_t>();
  }
  return out;
}

bool within(const std::array<int64_t, 3>& size, int64_t x, int64_t y, int64_t z) {
  return size[0] >= 1 && size[0] <= x && size[1] >= 1 && size[1] <= y && size[2] >= 1 && size[2] <= z;
}

Expected<GpuLaunch> launch_from_json(const Json& json, int pointers) {
  GpuLaunch l;
  if (!json.is_object() || !json.contains("kernel") || !json["kernel"].is_string()) return not_gpu_code("the name of a kernel");
  l.kernel = json["kernel"].get<std::string>();
  TW_TRY(l.grid, sizes(json, "grid"));
  TW_TRY(l.block, sizes(json, "block"));
  using namespace target;
  if (!within(l.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ) || !within(l.block, kMaxBlockThreads, kMaxBlockThreads, kMaxThreadsZ))
    return Error(ErrorCode::corrupt,
                 fmt::format("Expected sizes that a GPU can launch, found {} blocks of {} threads", fmt::join(l.grid, "x"), fmt::join(l.block, "x")));
  const auto shared = json.find("dynamic_shared_bytes"), params = json.find("params");
  if (shared == json.end() || !shared->is_number_integer() || shared->get<int64_t>() < 0) return not_gpu_code("a number of bytes of shared memory");
  l.dynamic_shared_bytes = shared->get<int64_t>();
  if (params == json.end() || !params->is_array()) return not_gpu_code("a list of parameters");
  for (const Json& p : *params) {
    if (!p.is_number_integer()) return not_gpu_code("parameters by number");
    if (p.get<int64_t>() < 0 || p.get<int64_t>() >= pointers)
      return Error(ErrorCode::corrupt, fmt::format("Expected one of {} arrays as a parameter of GPU code, found number {}", pointers, p.get<int64_t>()));
    l.params.push_back(p.get<int>());
  }
  return l;
}

}  // namespace

const std::vector<std::byte>* GpuFunction::image_for(int capability) const {
  auto it = images.upper_bound(capability);
  if (it == images.begin()) return nullptr;
  --it;
  if (it->first == capability) return &it->second;
  const bool alike = it->first / 10 == capability / 10 && !is_embedded(capability) && !is_embedded(it->first);
  return alike ? &it->second : nullptr;
}

Json to_json(const GpuFunction& f) {
  Json launches = Json::array();
  for (const GpuLaunch& l : f.launches)
    launches.push_back(
        Json{{"kernel", l.kernel}, {"grid", l.grid}, {"block", l.block}, {"dynamic_shared_bytes", l.dynamic_shared_bytes}, {"params", l.params}});
  return Json{{"symbol", f.symbol}, {"arguments", f.arguments}, {"launches", launches}, {"workspace_bytes", f.workspace_bytes},
              {"loops", f.loops},   {"source", f.source}};
}

Expected<GpuFunction> gpu_function_from_json(const Json& json) {
  if (!json.is_object()) return not_gpu_code("an object");
  for (const char* key : {"symbol", "loops", "source"})
    if (!json.contains(key) || !json[key].is_string()) return not_gpu_code(fmt::format("text as \"{}\"", key));
  for (const char* key : {"launches", "workspace_bytes"})
    if (!json.contains(key) || !json[key].is_array()) return not_gpu_code(fmt::format("a list as \"{}\"", key));
  GpuFunction f;
  f.symbol = json["symbol"].get<std::string>();
  f.loops = json["loops"].get<std::string>();
  f.source = json["source"].get<std::string>();
  if (!json.contains("arguments") || !json["arguments"].is_number_integer() || json["arguments"].get<int64_t>() < 0 ||
      json["arguments"].get<int64_t>() > INT16_MAX)
    return not_gpu_code("a number of arguments");
  f.arguments = json["arguments"].get<int>();
  for (const Json& bytes : json["workspace_bytes"]) {
    if (!bytes.is_number_integer() || bytes.get<int64_t>() < 0) return not_gpu_code("sizes of workspaces");
    f.workspace_bytes.push_back(bytes.get<int64_t>());
  }
  for (const Json& l : json["launches"]) {
    TW_TRY(GpuLaunch launch, launch_from_json(l, f.arguments + static_cast<int>(f.workspace_bytes.size())));
    f.launches.push_back(std::move(launch));
  }
  return f;
}

}  // namespace tw::runtime
