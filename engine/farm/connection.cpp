// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/base/text.h"
#include "engine/farm/tls_channel.h"

namespace tw::farm {

Error lost(const std::string& why) { return {ErrorCode::io_error, "The connection to the farm's server is gone: " + why}; }

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

Connection::Connection(int fd, std::string where) : fd_(fd), where_(std::move(where)) {}

Connection::~Connection() {
  tls_.reset();
  ::close(fd_);
}

Expected<std::unique_ptr<Connection>> Connection::open(const std::string& address, int port, process::Deadline deadline) {
  const std::string number = address == "localhost" ? "127.0.0.1" : address;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET, v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(port));
  const bool is_v4 = ::inet_pton(AF_INET, number.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, number.c_str(), &v6.sin6_addr) != 1)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected the IP address of the farm's server, found '{}'", printable(address)));
  const int fd = ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return lost(std::strerror(errno));
  std::unique_ptr<Connection> made(new Connection(fd, fmt::format("{}:{}", printable(address), port)));
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const int begun = is_v4 ? ::connect(fd, reinterpret_cast<sockaddr*>(&v4), sizeof v4) : ::connect(fd, reinterpret_cast<sockaddr*>(&v6), sizeof v6);
  if (begun != 0 && errno != EINPROGRESS) return Error(ErrorCode::io_error, fmt::format("Nobody listens at {}: {}", made->where_, std::strerror(errno)));
  TW_TRY(const bool ready, wait_for(fd, POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (!ready || error != 0)
    return Error(ErrorCode::io_error, fmt::format("Nobody listens at {}: {}", made->where_, ready ? std::strerror(error) : "no answer in time"));
  return made;
}

Expected<void> Connection::encrypt(const std::string& fingerprint, process::Deadline deadline) {
  TW_TRY(tls_, TlsChannel::open(fd_, where_, fingerprint, deadline));
  return {};
}

Expected<void> Connection::send(std::string_view bytes, process::Deadline deadline) {
  if (tls_) return tls_->send(bytes, deadline);
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
  return {};
}

Expected<bool> Connection::receive(std::string& to, process::Deadline deadline) {
  if (tls_) return tls_->receive(to, deadline);
  for (;;) {
    char piece[65536];
    const ssize_t n = ::recv(fd_, piece, sizeof piece, 0);
    if (n > 0) {
      to.append(piece, static_cast<size_t>(n));
      return true;
    }
    if (n == 0) return lost("the server closed it");
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return lost(std::strerror(errno));
    TW_TRY(const bool ready, wait_for(fd_, POLLIN, deadline));
    if (!ready) return false;
  }
}

}  // namespace tw::farm
