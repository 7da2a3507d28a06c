// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/messages.h"

#include <cmath>
#include <cstring>

#include "engine/base/text.h"
#include "engine/farm/names.h"
#include "engine/measure/message_fields.h"

namespace tw::farm {

namespace {

constexpr size_t kMostText = 4096, kMostKinds = 64;

/// A text that is a name, by whoever wrote it.
std::string name_of(measure::Fields& f, const char* key) {
  std::string text = f.text(key);
  if (!f.error() && !is_name(text)) f.fail(key, "a name");
  return text;
}

bool is_digest(std::string_view text) { return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

Json references_json(const measure::References& r) { return {{"flop_per_s", r.flop_per_s}, {"bytes_per_s", r.bytes_per_s}}; }

measure::References references_of(const Json& parent) {
  measure::References out;
  const auto it = parent.find("references");
  if (it == parent.end() || !it->is_object()) return out;
  const auto rate = [&](const char* key) {
    const auto value = it->find(key);
    const double v = value != it->end() && value->is_number() ? value->get<double>() : 0;
    return std::isfinite(v) && v > 0 ? v : 0;
  };
  return {rate("flop_per_s"), rate("bytes_per_s")};
}

std::string shortened(std::string text) {
  if (text.size() > kMostText) text.resize(kMostText);
  return text;
}

}  // namespace

std::string Job::identity() const { return fmt::format("{}.{}", trial, attempt); }
std::string Result::identity() const { return fmt::format("{}.{}", trial, attempt); }

std::string job_text(const Job& j) {
  Json devices = Json::object();
  for (const auto& [device, known] : j.devices) devices[device] = Json::array({known.incumbent_s, known.verify_below_s, known.run_limit_s});
  return dump_json(Json{{"trial", j.trial},
                        {"attempt", j.attempt},
                        {"session", j.session},
                        {"kind", j.kind},
                        {"target", j.target},
                        {"sha", j.sha},
                        {"bytes", j.bytes},
                        {"devices", devices},
                        {"takers", j.takers},
                        {"measure", j.measure}});
}

Expected<Job> job_from_text(const std::string& text) {
  if (text.size() > kMostJobBytes) return Error(ErrorCode::parse_error, fmt::format("Expected a job of at most {} bytes, found {}", kMostJobBytes, text.size()));
  TW_TRY(const Json json, parse_json(text, "a job"));
  measure::Fields f(json);
  Job j;
  j.trial = name_of(f, "trial");
  j.attempt = f.number<int>("attempt");
  j.session = name_of(f, "session");
  j.kind = name_of(f, "kind");
  j.target = f.text("target");
  j.sha = f.text("sha");
  j.bytes = f.number<int64_t>("bytes");
  j.takers = f.number<int>("takers");
  if (f.error()) return *f.error();
  if (!is_digest(j.sha) || j.bytes < 0 || j.bytes > static_cast<int64_t>(kMostArtefactBytes))
    return Error(ErrorCode::parse_error, "Expected the digest and the size of an object in a job, found something else");
  if (!json.contains("measure") || !json["measure"].is_object()) return Error(ErrorCode::parse_error, "Expected what to measure in a job, found nothing");
  j.measure = json["measure"];
  if (const auto devices = json.find("devices"); devices != json.end() && devices->is_object()) {
    for (const auto& [device, known] : devices->items()) {
      const bool good = is_name(device) && known.is_array() && known.size() == 3 && known[0].is_number() && known[1].is_number() && known[2].is_number();
      if (good) j.devices[device] = {known[0].get<double>(), known[1].get<double>(), known[2].get<double>()};
    }
  }
  return j;
}

std::string result_text(const Result& r) {
  const Json header{{"trial", r.trial},
                    {"attempt", r.attempt},
                    {"session", r.session},
                    {"kind", r.kind},
                    {"device", r.device},
                    {"boot", r.boot},
                    {"sequence", r.sequence},
                    {"deliveries", r.deliveries},
                    {"refused", shortened(r.refused)},
                    {"references", references_json(r.references)},
                    {"reply", r.reply.header}};
  const std::vector<std::byte> wire = process::encode_frame(header, r.reply.payload);
  return {reinterpret_cast<const char*>(wire.data()), wire.size()};
}

Expected<Result> result_from_text(const std::string& text) {
  if (text.size() > kMostResultBytes)
    return Error(ErrorCode::parse_error, fmt::format("Expected a result of at most {} bytes, found {}", kMostResultBytes, text.size()));
  TW_TRY(process::Frame frame, process::decode_frame(std::as_bytes(std::span(text))));
  const Json& json = frame.header;
  measure::Fields f(json);
  Result r;
  r.trial = name_of(f, "trial");
  r.attempt = f.number<int>("attempt");
  r.session = name_of(f, "session");
  r.kind = name_of(f, "kind");
  r.device = name_of(f, "device");
  r.boot = name_of(f, "boot");
  r.sequence = f.number<uint64_t>("sequence");
  r.deliveries = f.number<int>("deliveries");
  r.refused = printable(shortened(f.text("refused")));
  if (f.error()) return *f.error();
  r.references = references_of(json);
  const bool answered = json.contains("reply") && json["reply"].is_object();
  if (!answered && r.refused.empty()) return Error(ErrorCode::parse_error, "Expected what came out or why nothing did in a result, found neither");
  if (answered) r.reply.header = json["reply"];
  r.reply.payload = std::move(frame.payload);
  return r;
}

Json to_json(const Presence& p) {
  Json failures = Json::object();
  for (const auto& [kind, count] : p.failures) failures[kind] = count;
  return Json{{"device", p.device},
              {"kind", p.kind},
              {"boot", p.boot},
              {"phase", p.phase},
              {"reason", p.reason},
              {"trial", p.trial},
              {"target", p.target},
              {"isolation", p.isolation},
              {"emulated", p.emulated},
              {"measured", p.measured},
              {"spooled", p.spooled},
              {"failures", failures},
              {"temperature_c", p.temperature_c},
              {"clock_hz", p.clock_hz},
              {"free_bytes", p.free_bytes},
              {"uptime_s", p.uptime_s},
              {"references", references_json(p.references)}};
}

Expected<Presence> presence_from_json(const Json& json) {
  if (!json.is_object()) return Error(ErrorCode::parse_error, "Expected what a device says of itself, found something else");
  measure::Fields f(json);
  Presence p;
  p.device = name_of(f, "device");
  p.kind = name_of(f, "kind");
  p.boot = name_of(f, "boot");
  p.phase = printable(shortened(f.text("phase")));
  p.reason = printable(shortened(f.text("reason")));
  p.trial = printable(shortened(f.text("trial")));
  p.target = printable(shortened(f.text("target")));
  p.isolation = printable(shortened(f.text("isolation")));
  p.emulated = f.boolean("emulated");
  p.measured = f.number<int64_t>("measured");
  p.spooled = f.number<int64_t>("spooled");
  p.temperature_c = f.number<double>("temperature_c");
  p.clock_hz = f.number<double>("clock_hz");
  p.free_bytes = f.number<int64_t>("free_bytes");
  p.uptime_s = f.number<double>("uptime_s");
  if (f.error()) return *f.error();
  p.references = references_of(json);
  if (const auto failures = json.find("failures"); failures != json.end() && failures->is_object() && failures->size() <= kMostKinds) {
    for (const auto& [kind, count] : failures->items())
      if (is_name(kind) && count.is_number_integer()) p.failures[kind] = count.get<int64_t>();
  }
  return p;
}

}  // namespace tw::farm
