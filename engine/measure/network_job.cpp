// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_job.h"

#include <cmath>
#include <cstring>

#include "engine/measure/message_fields.h"

namespace tw::measure {

namespace {

Error malformed(const char* expected) { return Error(ErrorCode::parse_error, fmt::format("Expected {} in a worker's reply about a network", expected)); }

bool all_times(const std::vector<double>& seconds, size_t count) {
  if (seconds.size() != count) return false;
  for (const double s : seconds)
    if (!std::isfinite(s) || s < 0) return false;
  return true;
}

std::vector<bool> flags_in(const Json& list) {
  std::vector<bool> out;
  for (const Json& flag : list) out.push_back(flag.is_boolean() && flag.get<bool>());
  return out;
}

/// Takes one array's bytes from the front of `left`.
Expected<HostArray> output_from_json(const Json& json, std::span<const std::byte>& left) {
  Fields f(json);
  HostArray array;
  const std::string dtype = f.text("dtype");
  array.shape = f.numbers<int64_t>("shape");
  if (f.error()) return *f.error();
  TW_TRY(array.dtype, parse_dtype(dtype));
  __int128 bytes = array.dtype.bytes();
  for (const int64_t extent : array.shape) {
    if (extent < 0 || (bytes *= extent) > static_cast<__int128>(left.size())) return malformed("whole outputs");
  }
  if (bytes > static_cast<__int128>(left.size())) return malformed("whole outputs");
  const auto taken = left.first(static_cast<size_t>(bytes));
  array.data.assign(taken.begin(), taken.end());
  left = left.subspan(taken.size());
  return array;
}

Expected<VariantTimes> variant_from_json(const Json& json, const NetworkJob& job, std::span<const std::byte>& left) {
  Fields f(json);
  VariantTimes v;
  v.runs_s = f.numbers<double>("runs_s");
  v.woke = flags_in(f.list("woke"));
  const auto rounds = static_cast<size_t>(job.rounds);
  if (!all_times(v.runs_s, rounds)) return malformed("a time of every round");
  for (const Json& call : f.list("calls_s")) {
    std::vector<double>& seconds = v.calls_s.emplace_back();
    for (const Json& s : call) seconds.push_back(s.is_number() ? s.get<double>() : std::nan(""));
    if (!all_times(seconds, rounds)) return malformed("a time of every call in every round");
  }
  if (v.woke.size() != v.calls_s.size()) return malformed("as many calls in every list");
  for (const Json& output : f.list("outputs")) {
    TW_TRY(HostArray array, output_from_json(output, left));
    v.outputs.push_back(std::move(array));
  }
  if (f.error()) return *f.error();
  return v;
}

}  // namespace

Json to_json(const NetworkJob& job) {
  return Json{{"command", "run"},        {"files", job.files},     {"device", job.device},  {"seed", job.seed},
              {"rounds", job.rounds}, {"block_s", job.block_s}, {"run_limit_s", job.run_limit_s}, {"outputs", job.outputs}};
}

Json race_json(const NetworkJob& job, int64_t memory_bytes) {
  Json out = to_json(job);
  out["command"] = kRaceCommand;
  out["files"] = std::vector<std::string>(job.files.size());  // as many as there are; where they are here is nobody's business
  out["memory_bytes"] = memory_bytes;
  return out;
}

Expected<NetworkJob> network_job_from_json(const Json& json) {
  Fields f(json);
  NetworkJob job;
  for (const Json& file : f.list("files")) {
    if (!file.is_string()) f.fail("files", "a list of paths");
    if (f.error()) return *f.error();
    job.files.push_back(file.get<std::string>());
  }
  job.device = f.text("device");
  job.seed = f.number<uint64_t>("seed");
  job.rounds = f.number<int>("rounds");
  job.block_s = f.number<double>("block_s");
  job.run_limit_s = f.number<double>("run_limit_s");
  job.outputs = f.boolean("outputs");
  if (!f.error() && (job.files.empty() || job.rounds < 1 || !(job.block_s >= 0))) f.fail("files", "networks and rounds of them");
  if (f.error()) return *f.error();
  return job;
}

process::Frame to_frame(NetworkTimes times) {
  Json variants = Json::array();
  std::vector<std::byte> payload;
  for (const VariantTimes& v : times.variants) {
    Json outputs = Json::array();
    for (const HostArray& o : v.outputs) {
      outputs.push_back(Json{{"dtype", o.dtype.name()}, {"shape", o.shape}});
      payload.insert(payload.end(), o.data.begin(), o.data.end());
    }
    variants.push_back(Json{{"runs_s", v.runs_s}, {"calls_s", v.calls_s}, {"woke", v.woke}, {"outputs", outputs}});
  }
  return {Json{{"variants", variants}}, std::move(payload)};
}

Expected<NetworkTimes> network_times_from_frame(const process::Frame& frame, const NetworkJob& job) {
  const auto text = [&](const char* key) { return frame.header.contains(key) && frame.header[key].is_string() ? frame.header[key].get<std::string>() : std::string(); };
  if (frame.header.contains("status") && text("status") != "ok")
    return Error(ErrorCode::infrastructure, "The network did not run: " + printable(text("message").empty() ? text("status") : text("message")));
  if (const auto error = frame.header.find("error"); error != frame.header.end() && error->is_string())
    return Error(ErrorCode::infrastructure, printable(error->get<std::string>()));
  Fields f(frame.header);
  NetworkTimes times;
  std::span<const std::byte> left(frame.payload);
  for (const Json& variant : f.list("variants")) {
    TW_TRY(VariantTimes v, variant_from_json(variant, job, left));
    times.variants.push_back(std::move(v));
  }
  if (f.error()) return *f.error();
  if (times.variants.size() != job.files.size() || !left.empty()) return malformed("as many variants as were asked for");
  return times;
}

}  // namespace tw::measure
