// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/assert.h"
#include "engine/base/rng.h"

namespace tw::test {

/// A line between devices and a server on loopback: bytes come later, and what TCP loses comes after the wait that TCP has for it. It stands in for `tc netem`,
/// which not every kernel has.
struct Line {
  double delay_s = 0;  ///< each way
  double loss = 0;     ///< share of segments
};

/// Passes bytes on between connections to its port and the server's, over a line.
class Relay {
 public:
  Relay(int to, Line line)
      : to_(to), line_(line), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in here = loopback(0);
    socklen_t size = sizeof here;
    TW_ASSERT(::bind(listener_, reinterpret_cast<const sockaddr*>(&here), size) == 0 && ::listen(listener_, 512) == 0 &&
                  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) == 0,
              "a port for a relay");
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Relay() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
    thread_.join();
    for (const Connection& c : connections_) ::close(c.fd[0]), ::close(c.fd[1]);
    ::close(listener_), ::close(wake_);
  }
  int port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kSegment = 1448, kMostQueued = 4 << 20;
  static constexpr double kLeastTimeout = 0.2;  ///< of a retransmission, as Linux has it
  struct Piece {
    Clock::time_point due;
    std::string bytes;
  };
  struct Connection {
    int fd[2] = {-1, -1};
    std::deque<Piece> queue[2];  ///< towards fd[i]
    size_t queued[2] = {0, 0};
    bool ended = false;
  };

  static sockaddr_in loopback(int port) {
    sockaddr_in a{};
    a.sin_family = AF_INET, a.sin_addr.s_addr = htonl(INADDR_LOOPBACK), a.sin_port = htons(static_cast<uint16_t>(port));
    return a;
  }
  static Clock::duration seconds(double s) { return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s)); }

  /// What losses add to a burst of segments: a lost one that three others follow is sent again a round trip later, one near the end after a timeout, which
  /// doubles.
  double stall_s(size_t bytes) {
    const size_t segments = (bytes + kSegment - 1) / kSegment;
    const double round_trip = 2 * line_.delay_s, timeout = round_trip + std::max(kLeastTimeout, round_trip / 2);
    double worst = 0;
    for (size_t i = 0; i < segments; ++i) {
      double stall = 0, wait = i + 3 < segments ? round_trip : timeout;
      while (rng_.uniform_real() < line_.loss) {
        stall += wait;
        wait = std::max(timeout, 2 * wait);
      }
      worst = std::max(worst, stall);
    }
    return worst;
  }

  void take_connection() {
    Connection c;
    c.fd[0] = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (c.fd[0] < 0) return;
    c.fd[1] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in there = loopback(to_);
    if (::connect(c.fd[1], reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0) {
      ::close(c.fd[0]), ::close(c.fd[1]);
      return;
    }
    for (const int fd : c.fd) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    connections_.push_back(std::move(c));
  }

  void read_from(Connection& c, int side) {
    char buffer[65536];
    const ssize_t n = ::read(c.fd[side], buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      c.ended = true;
      return;
    }
    std::deque<Piece>& queue = c.queue[1 - side];
    auto due = Clock::now() + seconds(line_.delay_s + stall_s(static_cast<size_t>(n)));
    if (!queue.empty()) due = std::max(due, queue.back().due);  // nothing overtakes what is sent again
    queue.push_back({due, std::string(buffer, static_cast<size_t>(n))});
    c.queued[1 - side] += static_cast<size_t>(n);
  }

  void write_due(Connection& c, int side) {
    std::deque<Piece>& queue = c.queue[side];
    while (!queue.empty() && queue.front().due <= Clock::now()) {
      std::string& bytes = queue.front().bytes;
      const ssize_t n = ::send(c.fd[side], bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) c.ended = true;
      if (n <= 0) return;
      c.queued[side] -= static_cast<size_t>(n);
      bytes.erase(0, static_cast<size_t>(n));
      if (bytes.empty()) queue.pop_front();
    }
  }

  void serve() {
    for (;;) {
      std::vector<pollfd> fds{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
      auto next = Clock::now() + std::chrono::seconds(1);
      for (const Connection& c : connections_) {
        for (int side = 0; side < 2; ++side) {
          short events = c.queued[1 - side] < kMostQueued ? POLLIN : 0;
          if (!c.queue[side].empty() && c.queue[side].front().due <= Clock::now()) events |= POLLOUT;
          if (!c.queue[side].empty()) next = std::min(next, c.queue[side].front().due);
          fds.push_back({c.fd[side], events, 0});
        }
      }
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(wait, 0, 1000)));
      if (fds[0].revents != 0) return;
      size_t at = 2;
      for (Connection& c : connections_) {
        for (int side = 0; side < 2; ++side, ++at)
          if (fds[at].revents != 0 && (fds[at].events & POLLIN) != 0) read_from(c, side);
        for (int side = 0; side < 2; ++side) write_due(c, side);
      }
      if (fds[1].revents != 0) take_connection();
      connections_.remove_if([](const Connection& c) {
        if (c.ended) ::close(c.fd[0]), ::close(c.fd[1]);
        return c.ended;
      });
    }
  }

  int to_, port_ = 0;
  Line line_;
  int wake_, listener_;
  Rng rng_{7};
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace tw::test
