// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/nats_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/names.h"

namespace tw::farm {

namespace {

constexpr size_t kMostLine = 64 << 10, kMostMessage = size_t{64} << 20;
constexpr size_t kMostUnsent = 64 << 10;
constexpr double kSendSeconds = 10;
constexpr std::string_view kInfo = "INFO ";

process::Deadline in_s(double seconds) { return std::chrono::steady_clock::now() + process::in_seconds(seconds); }

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

std::optional<size_t> size_of(std::string_view text) {
  size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n > kMostMessage) return std::nullopt;
  return n;
}

/// "NATS/1.0 404 ..." is 404.
int status_of(std::string_view headers) {
  constexpr std::string_view kStart = "NATS/1.0 ";
  int status = 0;
  if (headers.starts_with(kStart)) std::from_chars(headers.data() + kStart.size(), headers.data() + headers.size(), status);
  return status;
}

}  // namespace

Expected<std::unique_ptr<NatsClient>> NatsClient::connect(const Endpoint& endpoint, double limit_s) {
  std::unique_ptr<NatsClient> client(new NatsClient(endpoint));
  TW_CHECK(client->open(limit_s));
  return client;
}

Expected<void> NatsClient::open(double limit_s) {
  const auto deadline = in_s(limit_s);
  TW_TRY(connection_, Connection::open(endpoint_.address, endpoint_.port, deadline));
  TW_CHECK(greet(deadline));
  const Json hello{{"verbose", false},   {"pedantic", false}, {"lang", "tilewright"},     {"version", "1"},
                   {"protocol", 1},      {"headers", true},   {"no_responders", true},    {"name", endpoint_.name},
                   {"user", endpoint_.user}, {"pass", endpoint_.password}};
  TW_CHECK(write("CONNECT " + dump_json(hello) + "\r\n"));
  TW_CHECK(flush(std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count()));
  inbox_ = fmt::format("{}.{}", endpoint_.inbox.empty() ? "_INBOX" : endpoint_.inbox, random_hex(8));
  TW_CHECK(subscribe(inbox_ + ".*"));
  return {};
}

Expected<void> NatsClient::greet(process::Deadline deadline) {
  const std::string where = fmt::format("{}:{}", printable(endpoint_.address), endpoint_.port);
  TW_TRY(const auto line, read_line(deadline));
  if (!line || !line->starts_with(kInfo)) return Error(line ? ErrorCode::parse_error : ErrorCode::timeout, fmt::format("What listens at {} does not greet as NATS does", where));
  TW_CHECK(take_info(std::string_view(*line).substr(kInfo.size())));
  if (endpoint_.fingerprint.empty()) {
    if (!only_encrypted_) return {};
    return Error(ErrorCode::invalid_argument,
                 fmt::format("The server at {} takes encrypted connections only, and the line says nothing of its certificate; `tw farm line` prints the one that does", where));
  }
  if (!can_encrypt_ && !only_encrypted_)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected an encrypted connection to {}, and what listens there has none; nothing was sent", where));
  // What came with the greeting was not encrypted: whoever is in between may have written it, and it must not be taken for the server's.
  if (begin_ != buffer_.size()) return Error(ErrorCode::parse_error, fmt::format("What listens at {} does not wait for the encrypted connection that it offers", where));
  return connection_->encrypt(endpoint_.fingerprint, deadline);
}

Expected<void> NatsClient::write(std::string_view line) {
  unsent_ += line;
  return unsent_.size() < kMostUnsent ? Expected<void>() : push();
}

Expected<void> NatsClient::push() {
  if (unsent_.empty()) return {};
  TW_CHECK(connection_->send(unsent_, in_s(kSendSeconds)));
  unsent_.clear();
  return {};
}

Expected<void> NatsClient::publish(const std::string& subject, std::string_view payload, const std::string& reply, const std::string& headers) {
  if (payload.size() + headers.size() + 64 > most_bytes_)
    return Error(ErrorCode::resource_limit, fmt::format("Expected a message of at most {} bytes, found {}", most_bytes_, payload.size()));
  const std::string to = reply.empty() ? subject : subject + " " + reply;
  std::string wire;
  if (headers.empty()) {
    wire = fmt::format("PUB {} {}\r\n", to, payload.size());
  } else {
    const std::string head = "NATS/1.0\r\n" + headers + "\r\n";
    wire = fmt::format("HPUB {} {} {}\r\n{}", to, head.size(), head.size() + payload.size(), head);
  }
  wire += payload;
  wire += "\r\n";
  return write(wire);
}

Expected<int64_t> NatsClient::subscribe(const std::string& subject, const std::string& group) {
  TW_CHECK(write(fmt::format("SUB {} {}{}\r\n", subject, group.empty() ? "" : group + " ", ++last_subscription_)));
  return last_subscription_;
}

Expected<void> NatsClient::unsubscribe(int64_t subscription) { return write(fmt::format("UNSUB {}\r\n", subscription)); }

std::string NatsClient::new_inbox() { return fmt::format("{}.{}", inbox_, ++last_inbox_); }

Expected<bool> NatsClient::fill(process::Deadline deadline) {
  if (begin_ > 0 && (begin_ == buffer_.size() || begin_ > (1 << 20))) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return connection_->receive(buffer_, deadline);
}

Expected<std::optional<std::string>> NatsClient::read_line(process::Deadline deadline) {
  size_t end;
  while ((end = buffer_.find("\r\n", begin_)) == std::string::npos) {
    if (buffer_.size() - begin_ > kMostLine) return Error(ErrorCode::parse_error, "The farm's server sends lines without end");
    TW_TRY(const bool more, fill(deadline));
    if (!more) return std::optional<std::string>();
  }
  std::string line = buffer_.substr(begin_, end - begin_);
  begin_ = end + 2;
  return std::optional<std::string>(std::move(line));
}

Expected<void> NatsClient::take_info(std::string_view json) {
  TW_TRY(const Json info, parse_json(json, "the server's greeting"));
  if (info.contains("max_payload") && info["max_payload"].is_number_unsigned()) most_bytes_ = std::min<size_t>(info["max_payload"].get<size_t>(), kMostMessage);
  const auto says = [&](const char* what) { return info.contains(what) && info[what] == true; };
  can_encrypt_ = says("tls_available"), only_encrypted_ = says("tls_required");
  return {};
}

Expected<bool> NatsClient::read_one(process::Deadline deadline) {
  TW_TRY(const auto next_line, read_line(deadline));
  if (!next_line) return false;
  const std::string& line = *next_line;
  if (line.starts_with("MSG ") || line.starts_with("HMSG ")) {
    const bool with_headers = line[0] == 'H';
    TW_CHECK(take_message(std::string_view(line).substr(with_headers ? 5 : 4), with_headers, in_s(kSendSeconds)));
  } else if (line == "PING") {
    TW_CHECK(write("PONG\r\n"));
    TW_CHECK(push());
  } else if (line == "PONG") {
    ++pongs_;
  } else if (line.starts_with(kInfo)) {
    TW_CHECK(take_info(std::string_view(line).substr(kInfo.size())));
  } else if (line.starts_with("-ERR")) {
    const bool refused = line.find("Permissions Violation") != std::string::npos || line.find("Authorization") != std::string::npos;
    return Error(refused ? ErrorCode::invalid_argument : ErrorCode::io_error, "The farm's server says" + printable(line.substr(4)));
  } else if (line != "+OK") {
    return Error(ErrorCode::parse_error, fmt::format("Expected a line of NATS's protocol, found '{}'", printable(line.substr(0, 80))));
  }
  return true;
}

Expected<void> NatsClient::take_message(std::string_view line, bool with_headers, process::Deadline deadline) {
  const auto fields = fields_of(line);
  const size_t plain = with_headers ? 4 : 3;
  if (fields.size() != plain && fields.size() != plain + 1) return Error(ErrorCode::parse_error, "The farm's server announced a message in another form");
  const auto total = size_of(fields.back());
  const auto head = with_headers ? size_of(fields[fields.size() - 2]) : std::optional<size_t>(0);
  if (!total || !head || *head > *total) return Error(ErrorCode::parse_error, "The farm's server announced a message of impossible size");
  Message m;
  m.subject = std::string(fields[0]);
  if (fields.size() == plain + 1) m.reply = std::string(fields[2]);
  while (buffer_.size() - begin_ < *total + 2) {
    TW_TRY(const bool more, fill(deadline));
    if (!more) return lost("a message ended early");
  }
  m.headers = buffer_.substr(begin_, *head);
  m.payload = buffer_.substr(begin_ + *head, *total - *head);
  m.status = status_of(m.headers);
  begin_ += *total + 2;
  waiting_.push_back(std::move(m));
  return {};
}

Expected<std::optional<Message>> NatsClient::next(process::Deadline deadline) {
  TW_CHECK(push());
  for (;;) {
    if (!waiting_.empty()) {
      Message m = std::move(waiting_.front());
      waiting_.pop_front();
      return std::optional<Message>(std::move(m));
    }
    TW_TRY(const bool any, read_one(deadline));
    if (!any) return std::optional<Message>();
  }
}

Expected<Message> NatsClient::request(const std::string& subject, std::string_view payload, double limit_s, const std::string& headers) {
  const std::string answer_to = new_inbox();
  const auto deadline = in_s(limit_s);
  TW_CHECK(publish(subject, payload, answer_to, headers));
  TW_CHECK(push());
  size_t seen = waiting_.size();
  for (;;) {
    for (; seen < waiting_.size(); ++seen) {
      if (waiting_[seen].subject != answer_to) continue;
      Message m = std::move(waiting_[seen]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(seen));
      if (m.status == 503) return Error(ErrorCode::not_found, fmt::format("Nobody at the farm's server answers '{}'", printable(subject)));
      return m;
    }
    TW_TRY(const bool any, read_one(deadline));
    if (!any) return Error(ErrorCode::timeout, fmt::format("The farm's server did not answer '{}' in {:g} s", printable(subject), limit_s));
  }
}

Expected<void> NatsClient::flush(double limit_s) {
  const auto deadline = in_s(limit_s);
  TW_CHECK(write("PING\r\n"));
  TW_CHECK(push());
  ++pings_;
  while (pongs_ < pings_) {
    TW_TRY(const bool any, read_one(deadline));
    if (!any) return Error(ErrorCode::timeout, fmt::format("The farm's server did not answer in {:g} s", limit_s));
  }
  return {};
}

}  // namespace tw::farm
