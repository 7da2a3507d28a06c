// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/process/frame.h"

namespace tw::farm {

class TlsChannel;

/// Why nothing comes or goes any more.
Error lost(const std::string& why);
/// Waits for a socket; false at the deadline. Errors: io_error.
Expected<bool> wait_for(int fd, short events, process::Deadline deadline);

/// Bytes to and from a server, over a socket that never blocks; plain, until encrypt() has been called.
class Connection {
 public:
  /// `address`: an IP address, or "localhost". Errors: invalid_argument for another; io_error if nobody listens there.
  static Expected<std::unique_ptr<Connection>> open(const std::string& address, int port, process::Deadline deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// What goes and comes from here on is encrypted, and goes to who holds the certificate with this fingerprint. Errors: those of TlsChannel::open.
  Expected<void> encrypt(const std::string& fingerprint, process::Deadline deadline);
  /// All of it. Errors: io_error.
  Expected<void> send(std::string_view bytes, process::Deadline deadline);
  /// Appends what is there, and waits if nothing is; false if nothing came until then. After it nothing has been read that was not handed over: when the socket
  /// cannot be read, nothing is there. Errors: io_error.
  Expected<bool> receive(std::string& to, process::Deadline deadline);
  int fd() const { return fd_; }

 private:
  Connection(int fd, std::string where);
  int fd_;
  std::string where_;
  std::unique_ptr<TlsChannel> tls_;
};

}  // namespace tw::farm
