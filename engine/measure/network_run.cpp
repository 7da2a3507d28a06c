// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_run.h"

#include <cmath>
#include <cstring>

#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/measure/message_fields.h"
#include "engine/runtime/executable_json.h"
#include "engine/runtime/graph_executor.h"
#include "engine/runtime/object_loader.h"

namespace tw::measure {

namespace {

constexpr int kMostRepeats = 1'000'000;
constexpr int64_t kSpareBytes = int64_t{256} << 20;  ///< for code, stacks of threads and what parsing takes

/// Takes so many bytes from the front of `left`.
Expected<std::span<const std::byte>> take(std::span<const std::byte>& left, uint64_t size) {
  if (size > left.size()) return Error(ErrorCode::corrupt, fmt::format("Expected {} more bytes of a network, found {}", size, left.size()));
  const auto taken = left.first(static_cast<size_t>(size));
  left = left.subspan(static_cast<size_t>(size));
  return taken;
}

Json type_json(const HostArray& a) { return {{"dtype", a.dtype.name()}, {"shape", a.shape}}; }

/// An array by its type and shape, and its bytes from the front of `left`.
Expected<HostArray> array_from(const Json& json, std::span<const std::byte>& left) {
  Fields f(json);
  HostArray array;
  const std::string dtype = f.text("dtype");
  array.shape = f.numbers<int64_t>("shape");
  if (f.error()) return *f.error();
  TW_TRY(array.dtype, parse_dtype(dtype));
  __int128 bytes = array.dtype.bytes();
  for (const int64_t extent : array.shape)
    if (extent < 0 || (bytes *= extent) > static_cast<__int128>(left.size()))
      return Error(ErrorCode::corrupt, "Expected whole arrays, found one that is cut short");
  TW_TRY(const auto taken, take(left, static_cast<uint64_t>(bytes)));
  array.data.assign(taken.begin(), taken.end());
  return array;
}

using NetworkPtr = std::shared_ptr<const runtime::Executable>;

/// Code first, network after network, then what constants there are, then the inputs.
std::vector<std::byte> bytes_of(std::span<const NetworkPtr> networks, const std::map<std::string, HostArray>& inputs) {
  runtime::Blobs blobs;
  std::vector<runtime::Executable> bare;  // as long as there are blobs
  bare.reserve(networks.size());
  Json header{{"networks", Json::array()}, {"objects", Json::array()}, {"blobs", Json::array()}, {"inputs", Json::object()}};
  std::vector<std::byte> payload;
  for (const NetworkPtr& network : networks) {
    runtime::Executable& e = bare.emplace_back(*network);
    e.graph_text.clear();
    e.graph_constants.clear();
    header["networks"].push_back(runtime::executable_to_json(e, blobs));
    header["objects"].push_back(e.artifact.object.size());
    payload.insert(payload.end(), e.artifact.object.begin(), e.artifact.object.end());
  }
  for (const std::span<const std::byte> blob : blobs.list()) {
    header["blobs"].push_back(blob.size());
    payload.insert(payload.end(), blob.begin(), blob.end());
  }
  for (const auto& [name, array] : inputs) {
    header["inputs"][name] = type_json(array);
    payload.insert(payload.end(), array.data.begin(), array.data.end());
  }
  return process::encode_frame(header, payload);
}

struct Bundle {
  std::vector<NetworkPtr> networks;
  std::map<std::string, HostArray> inputs;
};
Expected<Bundle> bundle_from(std::span<const std::byte> bytes) {
  TW_TRY(const process::Frame frame, process::decode_frame(bytes));
  std::span<const std::byte> left(frame.payload);
  Fields f(frame.header);
  const Json& networks = f.list("networks");
  const auto objects = f.numbers<uint64_t>("objects"), sizes = f.numbers<uint64_t>("blobs");
  if (f.error()) return *f.error();
  const Json& h = frame.header;
  if (networks.empty() || networks.size() != objects.size() || !h.contains("inputs") || !h["inputs"].is_object())
    return Error(ErrorCode::parse_error, "Expected networks and their inputs, found something else");
  std::vector<std::span<const std::byte>> code(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    TW_TRY(code[i], take(left, objects[i]));
  }
  std::vector<std::shared_ptr<const ArrayBytes>> blobs;
  for (const uint64_t size : sizes) {
    TW_TRY(const auto blob, take(left, size));
    blobs.push_back(std::make_shared<const ArrayBytes>(std::vector<std::byte>(blob.begin(), blob.end())));
  }
  Bundle bundle;
  for (const auto& [name, type] : h["inputs"].items()) {
    TW_TRY(bundle.inputs[name], array_from(type, left));
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    TW_TRY(runtime::Executable read, runtime::executable_from_json(networks[i], blobs));
    read.artifact.object.assign(code[i].begin(), code[i].end());
    bundle.networks.push_back(std::make_shared<const runtime::Executable>(std::move(read)));
  }
  return bundle;
}

}  // namespace

Json to_json(const NetworkRun& run) {
  return {{"command", kNetworkCommand},
          {"repeat", run.repeat},
          {"startup_limit_s", run.startup_limit_s},
          {"run_limit_s", run.run_limit_s},
          {"memory_bytes", run.memory_bytes}};
}

Expected<NetworkRun> network_run_from_json(const Json& json) {
  Fields f(json);
  NetworkRun run;
  run.repeat = f.number<int>("repeat");
  run.startup_limit_s = f.number<double>("startup_limit_s");
  run.run_limit_s = f.number<double>("run_limit_s");
  run.memory_bytes = f.number<int64_t>("memory_bytes");
  if (!f.error() && (run.repeat < 1 || run.repeat > kMostRepeats)) f.fail("repeat", "1 to 1000000 runs");
  if (!f.error() && !(run.startup_limit_s > 0 && run.run_limit_s > 0 && run.memory_bytes > 0)) f.fail("run_limit_s", "limits above 0");
  if (f.error()) return *f.error();
  return run;
}

std::vector<std::byte> network_bytes(const runtime::Executable& executable, const std::map<std::string, HostArray>& inputs) {
  const NetworkPtr one(&executable, [](const runtime::Executable*) {});
  return bytes_of(std::span(&one, 1), inputs);
}

std::vector<std::byte> networks_bytes(std::span<const NetworkPtr> networks) { return bytes_of(networks, {}); }

Expected<std::vector<NetworkPtr>> networks_from_bytes(std::span<const std::byte> bytes) {
  TW_TRY(Bundle bundle, bundle_from(bytes));
  return std::move(bundle.networks);
}

std::map<std::string, HostArray> random_inputs(const runtime::Executable& executable, uint64_t seed) {
  Rng rng(seed);
  std::map<std::string, HostArray> inputs;
  for (const int slot : executable.inputs) {
    const runtime::ArgSpec& spec = executable.slots[static_cast<size_t>(slot)].spec;
    HostArray a = HostArray::make(spec.dtype, spec.shape);
    for (int64_t i = 0, n = a.num_elements(); i < n; ++i) {
      if (spec.dtype.is_float()) {
        a.set(i, 2 * rng.uniform_real() - 1);
      } else {
        a.set_int(i, static_cast<int64_t>(rng.uniform(spec.dtype.is_bool() ? 2 : 10)));
      }
    }
    inputs[spec.name] = std::move(a);
  }
  return inputs;
}

int64_t network_memory_bytes(const runtime::Executable& executable, size_t bytes) {
  int64_t total = executable.arena_bytes;
  for (const runtime::Slot& slot : executable.slots)
    if (slot.kind != runtime::Slot::Kind::intermediate) total += slot.spec.physical_bytes();
  return total + 3 * static_cast<int64_t>(bytes) + kSpareBytes;
}

Expected<NetworkRunTimes> run_network(const NetworkRun& run, std::span<const std::byte> bytes, const std::function<void()>& begun) {
  TW_TRY(const Bundle bundle, bundle_from(bytes));
  const NetworkPtr& executable = bundle.networks.front();
  TW_TRY(auto module, runtime::load_object(executable->artifact.object));
  TW_TRY(const auto executor, runtime::GraphExecutor::create(executable, std::move(module)));
  TW_CHECK(executor->set_inputs(bundle.inputs));
  begun();
  NetworkRunTimes times;
  TW_CHECK(executor->run());
  for (int i = 0; i < run.repeat; ++i) {
    TW_TRY(const double seconds, executor->run());
    times.runs_s.push_back(seconds);
  }
  TW_TRY(times.outputs, executor->outputs());
  return times;
}

process::Frame to_frame(const NetworkRunTimes& times) {
  process::Frame frame{Json{{"status", "ok"}, {"runs_s", times.runs_s}, {"outputs", Json::array()}}, {}};
  for (const HostArray& a : times.outputs) {
    frame.header["outputs"].push_back(type_json(a));
    frame.payload.insert(frame.payload.end(), a.data.begin(), a.data.end());
  }
  return frame;
}

Expected<NetworkRunTimes> network_run_from_frame(const process::Frame& frame, const NetworkRun& run, const runtime::Executable& executable) {
  const Json& h = frame.header;
  const auto text = [&](const char* key) { return h.contains(key) && h[key].is_string() ? printable(h[key].get<std::string>()) : std::string(); };
  if (text("status") != "ok")
    return Error(ErrorCode::wrong_result, text("message").empty() ? "The network ended without saying why" : "The network did not run: " + text("message"));
  Fields f(h);
  NetworkRunTimes times;
  times.runs_s = f.numbers<double>("runs_s");
  const Json& outputs = f.list("outputs");
  if (f.error()) return *f.error();
  for (const double s : times.runs_s)
    if (!std::isfinite(s) || s < 0) return Error(ErrorCode::parse_error, "Expected times in a worker's reply about a network, found something else");
  if (times.runs_s.size() != static_cast<size_t>(run.repeat) || outputs.size() != executable.outputs.size())
    return Error(ErrorCode::parse_error, "Expected a time for every run and all outputs in a worker's reply about a network, found another number");
  std::span<const std::byte> left(frame.payload);
  for (const Json& output : outputs) {
    TW_TRY(HostArray a, array_from(output, left));
    times.outputs.push_back(std::move(a));
  }
  return times;
}

}  // namespace tw::measure
