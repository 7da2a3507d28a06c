// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/expected.h"
#include "engine/farm/connection.h"

/// Measuring on other machines: a queue, agents that take jobs from it, and a device that puts them in.
namespace tw::farm {

/// Who one is at a server.
struct Endpoint {
  std::string address = "127.0.0.1";  ///< an IP address, or "localhost"
  int port = 4222;
  std::string user, password;
  std::string fingerprint;  ///< of the server's certificate, as TlsChannel has it; empty: the connection is not encrypted
  std::string inbox;  ///< beginning of the subjects that answers come to, such as "_IN.host"
  std::string name;   ///< shown in the server's lists
};

struct Message {
  std::string subject, reply, payload;
  std::string headers;  ///< as on the wire; empty for none
  /// Of a status line of the server in the headers, such as 404; 0 without.
  int status = 0;
};

/// One connection to a NATS server, by its text protocol; nothing of JetStream. One thread at a time. What is published or subscribed to leaves together, with
/// the next call that waits or with push(): a packet and a system call for each line would be most of what a farm costs. It is our own because agents are
/// static programs for boards, and Debian has NATS's C library as a shared one for the machine it is installed on only. Source: NATS documentation, "NATS
/// Client Protocol".
class NatsClient {
 public:
  /// Where the endpoint has a fingerprint, nothing but the handshake is sent before the server has shown that it has that certificate, whatever the server says
  /// of itself. Errors: io_error if nobody listens; invalid_argument if the server refuses the user, or is not encrypted as the endpoint has it, or is another
  /// one; timeout; parse_error.
  static Expected<std::unique_ptr<NatsClient>> connect(const Endpoint& endpoint, double limit_s);
  NatsClient(const NatsClient&) = delete;
  NatsClient& operator=(const NatsClient&) = delete;

  /// `headers`: lines "Name: value\r\n". Errors: io_error; resource_limit for payloads beyond the server's limit.
  Expected<void> publish(const std::string& subject, std::string_view payload, const std::string& reply = {}, const std::string& headers = {});
  /// Of those who subscribe as one group a message reaches one alone. The answer is the subscription's number.
  Expected<int64_t> subscribe(const std::string& subject, const std::string& group = {});
  Expected<void> unsubscribe(int64_t subscription);
  /// A fresh subject for answers.
  std::string new_inbox();
  /// The next message of any subscription; nothing if none came until then. Errors: io_error if the connection is gone; invalid_argument if the server refused
  /// something, such as a subject that the user may not use.
  Expected<std::optional<Message>> next(process::Deadline deadline);
  /// Publishes and waits for the answer; messages that come meanwhile are kept for next(). Errors: as above; timeout; not_found if nobody listens there.
  Expected<Message> request(const std::string& subject, std::string_view payload, double limit_s, const std::string& headers = {});
  /// Sends what has been published. Errors: io_error.
  Expected<void> push();
  /// Waits until the server has seen everything that was published. Errors: timeout; io_error.
  Expected<void> flush(double limit_s);
  /// To be polled for reading; messages may be here already.
  int fd() const { return connection_->fd(); }
  bool has_message() const { return !waiting_.empty(); }

 private:
  explicit NatsClient(const Endpoint& endpoint) : endpoint_(endpoint) {}
  Expected<void> open(double limit_s);
  /// Reads the server's first line, and encrypts what follows if the endpoint has it so.
  Expected<void> greet(process::Deadline deadline);
  Expected<void> write(std::string_view line);
  /// The next line, without its end; nothing if none came until then.
  Expected<std::optional<std::string>> read_line(process::Deadline deadline);
  Expected<void> take_info(std::string_view json);
  /// Reads and sorts one thing of the server's. False if nothing came until then.
  Expected<bool> read_one(process::Deadline deadline);
  Expected<bool> fill(process::Deadline deadline);
  Expected<void> take_message(std::string_view line, bool with_headers, process::Deadline deadline);

  Endpoint endpoint_;
  std::unique_ptr<Connection> connection_;
  bool can_encrypt_ = false, only_encrypted_ = false;  ///< what the server said of itself
  std::string unsent_;
  std::string buffer_;
  size_t begin_ = 0;
  std::deque<Message> waiting_;
  std::string inbox_;
  uint64_t last_inbox_ = 0, pings_ = 0, pongs_ = 0;
  size_t most_bytes_ = 1 << 20;
  int64_t last_subscription_ = 0;
};

}  // namespace tw::farm
