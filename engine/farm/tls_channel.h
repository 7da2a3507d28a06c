// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/process/frame.h"

namespace tw::farm {

/// TLS 1.2 over a socket that does not block. The other end is who holds the key of one certificate, which is known by its fingerprint: no authority, no name
/// and no date decides anything, as boards have no lists of authorities and may have no clock. An agent that was built without mbedTLS has no_tls.cpp in place of
/// this, and can open none. Source: RFC 5246; the suites of RFC 5289 and 7905.
class TlsChannel {
 public:
  /// Shakes hands. `where`: the other end, for messages; `fingerprint`: the SHA-256 of its certificate, 64 lower-case hexadecimal digits. Nothing of ours has been
  /// sent before the certificate was compared. Errors: invalid_argument if it is another one, or the other end cannot do this; timeout; io_error.
  static Expected<std::unique_ptr<TlsChannel>> open(int fd, const std::string& where, const std::string& fingerprint, process::Deadline deadline);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  /// As those of Connection.
  Expected<void> send(std::string_view bytes, process::Deadline deadline);
  Expected<bool> receive(std::string& to, process::Deadline deadline);

 private:
  struct Impl;
  explicit TlsChannel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::farm
