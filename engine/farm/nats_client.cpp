// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/nats_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/names.h"

namespace tw::farm {

namespace {

constexpr size_t kMostLine = 64 << 10, kMostMessage = size_t{64} << 20;
constexpr size_t kMostUnsent = 64 << 10;
constexpr double kSendSeconds = 10;

process::Deadline in_s(double seconds) { return std::chrono::steady_clock::now() + process::in_seconds(seconds); }

Error lost(const std::string& why) { return {ErrorCode::io_error, "The connection to the farm's server is gone: " + why}; }

/// Waits for a socket; false at the deadline.
Expected<bool> wait_for(int fd, short events, process::Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd p{fd, events, 0};
    const int n = ::poll(&p, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return lost(std::strerror(errno));
    if (n == 0 && left <= 0) return false;
  }
}

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

NatsClient::~NatsClient() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<std::unique_ptr<NatsClient>> NatsClient::connect(const Endpoint& endpoint, double limit_s) {
  std::unique_ptr<NatsClient> client(new NatsClient(endpoint));
  TW_CHECK(client->open(limit_s));
  return client;
}

Expected<void> NatsClient::open(double limit_s) {
  const auto deadline = in_s(limit_s);
  const std::string where = fmt::format("{}:{}", printable(endpoint_.address), endpoint_.port);
  const std::string address = endpoint_.address == "localhost" ? "127.0.0.1" : endpoint_.address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET, v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(endpoint_.port));
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected the IP address of the farm's server, found '{}'", printable(endpoint_.address)));
  fd_ = ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return lost(std::strerror(errno));
  const int one = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const int begun = is_v4 ? ::connect(fd_, reinterpret_cast<sockaddr*>(&v4), sizeof v4) : ::connect(fd_, reinterpret_cast<sockaddr*>(&v6), sizeof v6);
  if (begun != 0 && errno != EINPROGRESS) return Error(ErrorCode::io_error, fmt::format("Nobody listens at {}: {}", where, std::strerror(errno)));
  TW_TRY(const bool ready, wait_for(fd_, POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (!ready || error != 0)
    return Error(ErrorCode::io_error, fmt::format("Nobody listens at {}: {}", where, ready ? std::strerror(error) : "no answer in time"));

  TW_TRY(const bool greeted, read_one(deadline));  // INFO comes first
  if (!greeted) return Error(ErrorCode::timeout, fmt::format("What listens at {} does not greet as NATS does", where));
  const Json hello{{"verbose", false},   {"pedantic", false}, {"lang", "tilewright"},     {"version", "1"},
                   {"protocol", 1},      {"headers", true},   {"no_responders", true},    {"name", endpoint_.name},
                   {"user", endpoint_.user}, {"pass", endpoint_.password}};
  TW_CHECK(write("CONNECT " + dump_json(hello) + "\r\n"));
  TW_CHECK(flush(std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count()));
  inbox_ = fmt::format("{}.{}", endpoint_.inbox.empty() ? "_INBOX" : endpoint_.inbox, random_hex(8));
  TW_CHECK(subscribe(inbox_ + ".*"));
  return {};
}

Expected<void> NatsClient::write(std::string_view line) {
  unsent_ += line;
  return unsent_.size() < kMostUnsent ? Expected<void>() : push();
}

Expected<void> NatsClient::push() {
  const auto deadline = in_s(kSendSeconds);
  std::string_view bytes = unsent_;
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      TW_TRY(const bool ready, wait_for(fd_, POLLOUT, deadline));
      if (!ready) return lost("it takes nothing any more");
    } else if (errno != EINTR) {
      return lost(std::strerror(errno));
    }
  }
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
  for (;;) {
    char piece[65536];
    const ssize_t n = ::recv(fd_, piece, sizeof piece, 0);
    if (n > 0) {
      buffer_.append(piece, static_cast<size_t>(n));
      return true;
    }
    if (n == 0) return lost("the server closed it");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return lost(std::strerror(errno));
    TW_TRY(const bool ready, wait_for(fd_, POLLIN, deadline));
    if (!ready) return false;
  }
}

Expected<bool> NatsClient::read_one(process::Deadline deadline) {
  size_t end;
  while ((end = buffer_.find("\r\n", begin_)) == std::string::npos) {
    if (buffer_.size() - begin_ > kMostLine) return Error(ErrorCode::parse_error, "The farm's server sends lines without end");
    TW_TRY(const bool more, fill(deadline));
    if (!more) return false;
  }
  const std::string line = buffer_.substr(begin_, end - begin_);
  begin_ = end + 2;
  if (line.starts_with("MSG ") || line.starts_with("HMSG ")) {
    const bool with_headers = line[0] == 'H';
    TW_CHECK(take_message(std::string_view(line).substr(with_headers ? 5 : 4), with_headers, in_s(kSendSeconds)));
  } else if (line == "PING") {
    TW_CHECK(write("PONG\r\n"));
    TW_CHECK(push());
  } else if (line == "PONG") {
    ++pongs_;
  } else if (line.starts_with("INFO ")) {
    const auto info = parse_json(std::string_view(line).substr(5), "the server's greeting");
    if (!info) return info.error();
    if (info->contains("max_payload") && (*info)["max_payload"].is_number_unsigned())
      most_bytes_ = std::min<size_t>((*info)["max_payload"].get<size_t>(), kMostMessage);
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
