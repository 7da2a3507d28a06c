// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/jetstream.h"

#include <algorithm>
#include <charconv>

#include "engine/base/base64.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::farm {

namespace {

// Codes of the server's errors.
constexpr int kStreamThere = 10058, kConsumerThere = 10013, kNoConsumer = 10014, kNoStream = 10059, kNoMessage = 10037, kFull = 10077, kConsumerNameUsed = 10148;

int64_t nanoseconds(double s) { return static_cast<int64_t>(s * 1e9); }

struct ApiAnswer {
  Json json;
  int error = 0;  ///< the server's code; 0: none
  std::string text;
};

Expected<ApiAnswer> ask_api(NatsClient& client, const std::string& subject, const std::string& question) {
  TW_TRY(const Message m, client.request("$JS.API." + subject, question, kAnswerSeconds));
  ApiAnswer answer;
  TW_TRY(answer.json, parse_json(m.payload, "the server's answer"));
  if (const auto error = answer.json.find("error"); error != answer.json.end() && error->is_object()) {
    answer.error = error->value("err_code", error->value("code", 1));
    answer.text = error->contains("description") && (*error)["description"].is_string() ? printable((*error)["description"].get<std::string>()) : "an error";
  }
  return answer;
}

Error refused(const std::string& what, const ApiAnswer& answer) {
  return {answer.error == kFull ? ErrorCode::no_space : ErrorCode::infrastructure, fmt::format("The farm's server refuses {}: {}", what, answer.text)};
}

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

/// By which the server tells that a message was there already.
std::string identity_header(const std::string& identity) { return identity.empty() ? "" : "Nats-Msg-Id: " + identity + "\r\n"; }

/// The data of `message` in an answer to STREAM.MSG.GET.
Expected<std::optional<std::string>> message_in(const ApiAnswer& answer) {
  if (answer.error == kNoMessage || answer.error == kNoStream) return std::optional<std::string>();
  if (answer.error != 0) return refused("a stored message", answer);
  const auto m = answer.json.find("message");
  if (m == answer.json.end() || !m->is_object()) return Error(ErrorCode::parse_error, "Expected a message in the server's answer, found none");
  if (!m->contains("data")) return std::optional<std::string>("");
  if (!(*m)["data"].is_string()) return Error(ErrorCode::parse_error, "Expected a message's bytes in the server's answer, found something else");
  TW_TRY(std::string data, from_base64((*m)["data"].get<std::string>()));
  return std::optional<std::string>(std::move(data));
}

}  // namespace

Expected<void> ensure_stream(NatsClient& client, const StreamOptions& o) {
  const Json question{{"name", o.name},
                      {"subjects", o.subjects},
                      {"retention", o.work_queue ? "workqueue" : "limits"},
                      {"storage", "file"},
                      {"discard", o.discard_old ? "old" : "new"},
                      {"max_age", nanoseconds(o.most_age_s)},
                      {"duplicate_window", nanoseconds(o.duplicates_s)},
                      {"max_bytes", o.most_bytes},
                      {"max_msg_size", o.most_message},
                      {"max_msgs_per_subject", o.one_per_subject ? 1 : -1},
                      {"max_consumers", -1},
                      {"max_msgs", -1},
                      {"num_replicas", 1},
                      {"allow_direct", o.one_per_subject}};
  TW_TRY(const ApiAnswer answer, ask_api(client, "STREAM.CREATE." + o.name, dump_json(question)));
  if (answer.error == 0 || answer.error == kStreamThere) return {};
  return refused(fmt::format("the stream {}", o.name), answer);
}

Expected<void> ensure_consumer(NatsClient& client, const ConsumerOptions& o) {
  const Json question{{"stream_name", o.stream},
                      {"config",
                       {{"durable_name", o.name},
                        {"deliver_policy", "all"},
                        {"ack_policy", "explicit"},
                        {"ack_wait", nanoseconds(o.ack_wait_s)},
                        {"max_deliver", -1},
                        {"max_ack_pending", o.most_pending},
                        {"filter_subject", o.filter},
                        {"replay_policy", "instant"}}}};
  TW_TRY(const ApiAnswer answer, ask_api(client, fmt::format("CONSUMER.DURABLE.CREATE.{}.{}", o.stream, o.name), dump_json(question)));
  if (answer.error == 0 || answer.error == kConsumerThere || answer.error == kConsumerNameUsed) return {};
  return refused(fmt::format("the queue {}", o.name), answer);
}

Expected<void> remove_consumer(NatsClient& client, const std::string& stream, const std::string& name) {
  TW_TRY(const ApiAnswer answer, ask_api(client, fmt::format("CONSUMER.DELETE.{}.{}", stream, name), ""));
  if (answer.error == 0 || answer.error == kNoConsumer || answer.error == kNoStream) return {};
  return refused(fmt::format("to remove the queue {}", name), answer);
}

Expected<Stored> stored_in(const Message& answer) {
  if (answer.status == 503) return Error(ErrorCode::not_found, "No stream of the farm's server takes the message");
  TW_TRY(const Json json, parse_json(answer.payload, "the server's answer"));
  if (const auto error = json.find("error"); error != json.end() && error->is_object()) {
    const int code = error->value("err_code", 0);
    return Error(code == kFull ? ErrorCode::no_space : ErrorCode::infrastructure,
                 fmt::format("The farm's server does not take a message: {}", printable(error->value("description", std::string("an error")))));
  }
  if (!json.contains("seq") || !json["seq"].is_number_unsigned()) return Error(ErrorCode::parse_error, "Expected a message's place in the server's answer, found none");
  return Stored{json["seq"].get<uint64_t>(), json.value("duplicate", false)};
}

Expected<void> begin_publishing(NatsClient& client, const std::string& subject, std::string_view payload, const std::string& identity,
                                const std::string& inbox) {
  return client.publish(subject, payload, inbox, identity_header(identity));
}

std::optional<Delivered> delivered(Message message) {
  // $JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<time>.<waiting>
  std::vector<std::string_view> parts;
  const std::string_view reply = message.reply;
  for (size_t at = 0; at <= reply.size();) {
    const size_t end = std::min(reply.find('.', at), reply.size());
    parts.push_back(reply.substr(at, end - at));
    at = end + 1;
  }
  if (parts.size() < 9 || parts[0] != "$JS" || parts[1] != "ACK") return std::nullopt;
  const size_t first = parts.size() >= 11 ? 6 : 4;  // newer servers put a domain and an account before the stream
  if (parts.size() < first + 5) return std::nullopt;
  const auto deliveries = number_in(parts[first]), sequence = number_in(parts[first + 1]), waiting = number_in(parts[first + 4]);
  if (!deliveries || !sequence || !waiting || *deliveries > INT32_MAX || *waiting > INT64_MAX) return std::nullopt;
  const Delivered out{{}, *sequence, static_cast<int>(*deliveries), static_cast<int64_t>(*waiting)};
  return Delivered{std::move(message), out.sequence, out.deliveries, out.waiting};
}

Expected<void> ask_for_one(NatsClient& client, const std::string& stream, const std::string& consumer, const std::string& inbox) {
  return client.publish(fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", stream, consumer), R"({"batch":1,"no_wait":true})", inbox);
}

Expected<std::optional<std::string>> stored_message(NatsClient& client, const std::string& stream, uint64_t sequence) {
  TW_TRY(const ApiAnswer answer, ask_api(client, "STREAM.MSG.GET." + stream, dump_json(Json{{"seq", sequence}})));
  return message_in(answer);
}

Expected<void> ask_for_newest(NatsClient& client, const std::string& stream, const std::string& subject, const std::string& inbox) {
  return client.publish(fmt::format("$JS.API.DIRECT.GET.{}.{}", stream, subject), "", inbox);
}

Expected<void> remove_message(NatsClient& client, const std::string& stream, uint64_t sequence) {
  TW_TRY(const ApiAnswer answer, ask_api(client, "STREAM.MSG.DELETE." + stream, dump_json(Json{{"seq", sequence}, {"no_erase", true}})));
  if (answer.error == 0 || answer.error == kNoMessage || answer.error == kNoStream || answer.text.find("not found") != std::string::npos) return {};
  return refused("to remove a message", answer);
}

Expected<std::optional<QueueLength>> queue_length(NatsClient& client, const std::string& stream, const std::string& consumer) {
  TW_TRY(const ApiAnswer answer, ask_api(client, fmt::format("CONSUMER.INFO.{}.{}", stream, consumer), ""));
  if (answer.error == kNoConsumer || answer.error == kNoStream) return std::optional<QueueLength>();
  if (answer.error != 0) return refused("to tell a queue's length", answer);
  return std::optional<QueueLength>(
      QueueLength{answer.json.value("num_pending", int64_t{0}), answer.json.value("num_ack_pending", int64_t{0}), answer.json.value("num_redelivered", int64_t{0})});
}

Expected<std::vector<std::string>> consumers_of(NatsClient& client, const std::string& stream) {
  TW_TRY(const ApiAnswer answer, ask_api(client, "CONSUMER.NAMES." + stream, ""));
  std::vector<std::string> out;
  if (answer.error == kNoStream) return out;
  if (answer.error != 0) return refused("to name its queues", answer);
  if (const auto names = answer.json.find("consumers"); names != answer.json.end() && names->is_array())
    for (const Json& n : *names)
      if (n.is_string()) out.push_back(n.get<std::string>());
  return out;
}

}  // namespace tw::farm
