// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/survey.h"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/names.h"

namespace tw::farm {

namespace {

constexpr double kSurveySeconds = 5;

Expected<std::vector<Presence>> devices_of(NatsClient& client, const FarmFile& farm, double patience_s) {
  const Names names(farm.farm);
  const std::string answers = client.new_inbox();
  for (const FarmFile::Kind& k : farm.kinds) TW_CHECK(client.publish(names.ping(k.name), "", answers));
  std::vector<Presence> out;
  const auto until = std::chrono::steady_clock::now() + process::in_seconds(patience_s);
  for (;;) {
    TW_TRY(const auto m, client.next(until));
    if (!m) break;
    const auto json = m->subject == answers && m->status == 0 ? parse_json(m->payload) : Expected<Json>(Json());
    const auto p = json ? presence_from_json(*json) : Expected<Presence>(json.error());
    if (p) out.push_back(*p);
  }
  std::sort(out.begin(), out.end(), [](const Presence& a, const Presence& b) { return std::tie(a.kind, a.device) < std::tie(b.kind, b.device); });
  return out;
}

}  // namespace

Expected<Survey> survey(const FarmFile& farm, double patience_s) {
  TW_TRY(const auto client, NatsClient::connect(farm.session().endpoint("tw"), kSurveySeconds));
  const Names names(farm.farm);
  Survey s;
  TW_TRY(s.devices, devices_of(*client, farm, patience_s));
  for (const FarmFile::Kind& k : farm.kinds) {
    const std::string stream = names.jobs_stream(k.name);
    TW_TRY(const auto queues, consumers_of(*client, stream));
    for (const std::string& queue : queues) {
      TW_TRY(const auto length, queue_length(*client, stream, queue));
      if (length) s.queues.push_back({k.name, queue, *length});
    }
  }
  TW_TRY(const auto sessions, consumers_of(*client, names.results_stream()));
  for (const std::string& session : sessions) {
    TW_TRY(const auto length, queue_length(*client, names.results_stream(), session));
    if (length) s.results += length->waiting;
  }
  return s;
}

const std::vector<DeviceCommand>& device_commands() {
  static const std::vector<DeviceCommand> list = {{"drain", "A device takes no more jobs once its present one is done"},
                                                  {"resume", "A drained device takes jobs again"},
                                                  {"quarantine", "A device takes no more jobs, after a restart neither, until it is released"},
                                                  {"release", "A quarantined device takes jobs again"},
                                                  {"recycle", "A device replaces the process that measures"},
                                                  {"self-test", "A device measures its reference kernels; one that cannot is quarantined"}};
  return list;
}

Expected<Presence> command_device(const FarmFile& farm, const std::string& device, const std::string& command, const std::string& reason) {
  TW_TRY(const Json answer, tell_device(farm, device, Json{{"command", command}, {"reason", reason}}));
  return presence_from_json(answer);
}

Expected<Json> tell_device(const FarmFile& farm, const std::string& device, const Json& question) {
  TW_CHECK(check_name(device, "a device's name"));
  TW_TRY(const auto client, NatsClient::connect(farm.session().endpoint("tw"), kSurveySeconds));
  const Names names(farm.farm);
  for (const FarmFile::Kind& k : farm.kinds) {
    const auto m = client->request(names.control(k.name, device), dump_json(question), kSurveySeconds);
    if (!m && m.error().code == ErrorCode::not_found) continue;
    if (!m) return m.error();
    TW_TRY(Json answer, parse_json(m->payload, "a device's answer"));
    if (answer.is_object() && answer.contains("error") && answer["error"].is_string())
      return Error(ErrorCode::infrastructure, fmt::format("The device '{}' says: {}", device, printable(answer["error"].get<std::string>())));
    return answer;
  }
  return Error(ErrorCode::not_found, fmt::format("Expected a device of the farm '{}', found none named '{}' that answers; `tw farm devices` lists them", farm.farm, printable(device)));
}

}  // namespace tw::farm
