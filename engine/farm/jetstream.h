// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/farm/nats_client.h"

/// What JetStream keeps: streams of messages and the consumers that hand them out. Everything is a question to a subject of the server's.
/// Source: NATS documentation, "JetStream wire API reference"; nats-server 2.9.
namespace tw::farm {

inline constexpr double kAnswerSeconds = 10;  ///< that a server in good order needs at most

struct StreamOptions {
  std::string name;
  std::vector<std::string> subjects;
  bool work_queue = false;      ///< messages go when they are acknowledged; else when they are old
  bool one_per_subject = false;  ///< a message takes the place of the earlier one of its subject
  double most_age_s = 0;
  double duplicates_s = 120;   ///< in which a message of an identity that was there is not stored again
  int64_t most_bytes = -1;     ///< of the stream
  int64_t most_message = -1;
  bool discard_old = false;  ///< where it is full, in place of refusing new ones
};
/// Makes a stream, or leaves the one that is there. Errors: those of request(); infrastructure with what the server says.
Expected<void> ensure_stream(NatsClient& client, const StreamOptions& options);

struct ConsumerOptions {
  std::string stream, name, filter;
  double ack_wait_s = 20;
  int most_pending = 1000;  ///< handed out and not acknowledged
};
/// Makes a consumer that keeps its place, is asked for messages, and whose messages are acknowledged one by one; leaves the one that is there.
Expected<void> ensure_consumer(NatsClient& client, const ConsumerOptions& options);
/// What was handed out and not acknowledged is handed out again at once by the next one of the name. A consumer that is not there is no error.
Expected<void> remove_consumer(NatsClient& client, const std::string& stream, const std::string& name);

/// Where a message lies.
struct Stored {
  uint64_t sequence = 0;
  bool duplicate = false;  ///< it was there already, by its identity
};
/// Sends a message that is to be stored. `identity`, by which one that is there already is known, may be empty. The answer comes to `inbox`, for stored_in().
/// Errors: those of NatsClient::publish.
Expected<void> begin_publishing(NatsClient& client, const std::string& subject, std::string_view payload, const std::string& identity,
                                const std::string& inbox);
/// What the server says of a message that was to be stored. Errors: not_found if no stream takes it; no_space; infrastructure; parse_error.
Expected<Stored> stored_in(const Message& answer);

/// A message of a queue and how often it has been handed out, this time included.
struct Delivered {
  Message message;
  uint64_t sequence = 0;
  int deliveries = 1;
  int64_t waiting = 0;  ///< messages of the queue that nobody has got yet
};
/// Reads where a message came from; nothing if no consumer handed it out.
std::optional<Delivered> delivered(Message message);
/// Asks for one message of a queue, if there is one right now. It comes under the subject that it was published to (see delivered()); that there is none comes to
/// `inbox`, with a status. Where there is no such queue, nothing comes.
Expected<void> ask_for_one(NatsClient& client, const std::string& stream, const std::string& consumer, const std::string& inbox);

/// A stored message, by its place; nothing if it is not there.
Expected<std::optional<std::string>> stored_message(NatsClient& client, const std::string& stream, uint64_t sequence);
/// Asks for the newest message of a subject. It comes to `inbox`; where there is none, a status does.
Expected<void> ask_for_newest(NatsClient& client, const std::string& stream, const std::string& subject, const std::string& inbox);
/// A message that is not there is no error.
Expected<void> remove_message(NatsClient& client, const std::string& stream, uint64_t sequence);

struct QueueLength {
  int64_t waiting = 0, handed_out = 0, handed_out_again = 0;
};
/// Nothing without such a consumer.
Expected<std::optional<QueueLength>> queue_length(NatsClient& client, const std::string& stream, const std::string& consumer);
/// Names of a stream's consumers.
Expected<std::vector<std::string>> consumers_of(NatsClient& client, const std::string& stream);

}  // namespace tw::farm
