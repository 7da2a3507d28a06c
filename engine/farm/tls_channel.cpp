// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/tls_channel.h"

#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/connection.h"

namespace tw::farm {

namespace {

/// The farm's certificate signs, and a key of the moment encrypts. Without instructions for AES, as on many boards, ChaCha20 is the faster one; the server takes
/// the hint from the order.
#if defined(__x86_64__)
constexpr int kSuites[] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, 0};
#else
constexpr int kSuites[] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 0};
#endif

int random_bytes(void*, unsigned char* to, size_t size) {
  while (size > 0) {
    const ssize_t n = ::getrandom(to, size, 0);
    if (n < 0 && errno != EINTR) return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
    if (n > 0) to += n, size -= static_cast<size_t>(n);
  }
  return 0;
}

std::string reason_of(int code) {
  char text[160] = {};
  mbedtls_strerror(code, text, sizeof text);
  return text;
}

bool waits(int code) { return code == MBEDTLS_ERR_SSL_WANT_READ || code == MBEDTLS_ERR_SSL_WANT_WRITE; }
short event_of(int code) { return code == MBEDTLS_ERR_SSL_WANT_WRITE ? POLLOUT : POLLIN; }

}  // namespace

struct TlsChannel::Impl {
  explicit Impl(int socket) : fd(socket) {
    mbedtls_ssl_init(&context);
    mbedtls_ssl_config_init(&config);
  }
  ~Impl() {
    mbedtls_ssl_free(&context);
    mbedtls_ssl_config_free(&config);
  }
  static int give(void* self, const unsigned char* bytes, size_t size);
  static int take(void* self, unsigned char* to, size_t size);
  int result_of(ssize_t n, int want);
  Error error(int code) const;

  int fd;
  mbedtls_ssl_config config;
  mbedtls_ssl_context context;
  int system_error = 0;  ///< why the socket failed
  int ended = 0;         ///< what ended the channel after bytes that were handed over
  /// Read from the socket at once, as mbedTLS asks for a few bytes at a time.
  std::array<unsigned char, 65536> ahead;
  size_t begin = 0, end = 0;
  bool may_read_ahead = false;
};

int TlsChannel::Impl::result_of(ssize_t n, int want) {
  if (n >= 0) return static_cast<int>(n);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return want;
  system_error = errno;
  return MBEDTLS_ERR_SSL_CONN_EOF;
}

int TlsChannel::Impl::give(void* self, const unsigned char* bytes, size_t size) {
  auto& s = *static_cast<Impl*>(self);
  return s.result_of(::send(s.fd, bytes, size, MSG_NOSIGNAL), MBEDTLS_ERR_SSL_WANT_WRITE);
}

int TlsChannel::Impl::take(void* self, unsigned char* to, size_t size) {
  auto& s = *static_cast<Impl*>(self);
  if (s.begin == s.end) {
    if (!s.may_read_ahead) return s.result_of(::recv(s.fd, to, size, 0), MBEDTLS_ERR_SSL_WANT_READ);
    const int n = s.result_of(::recv(s.fd, s.ahead.data(), s.ahead.size(), 0), MBEDTLS_ERR_SSL_WANT_READ);
    if (n <= 0) return n;
    s.may_read_ahead = false;
    s.begin = 0, s.end = static_cast<size_t>(n);
  }
  const size_t n = std::min(size, s.end - s.begin);
  std::memcpy(to, s.ahead.data() + s.begin, n);
  s.begin += n;
  return static_cast<int>(n);
}

Error TlsChannel::Impl::error(int code) const {
  if (system_error != 0) return lost(std::strerror(system_error));
  if (code == 0 || code == MBEDTLS_ERR_SSL_CONN_EOF || code == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY) return lost("the server closed it");
  return lost(reason_of(code));
}

TlsChannel::TlsChannel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TlsChannel::~TlsChannel() {
  if (impl_->ended == 0) mbedtls_ssl_close_notify(&impl_->context);
}

Expected<std::unique_ptr<TlsChannel>> TlsChannel::open(int fd, const std::string& where, const std::string& fingerprint, process::Deadline deadline) {
  auto impl = std::make_unique<Impl>(fd);
  mbedtls_ssl_context& ssl = impl->context;
  mbedtls_ssl_config& config = impl->config;
  int failed = mbedtls_ssl_config_defaults(&config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
  mbedtls_ssl_conf_min_version(&config, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);  // which is TLS 1.2
  mbedtls_ssl_conf_ciphersuites(&config, kSuites);
  mbedtls_ssl_conf_rng(&config, random_bytes, nullptr);
  // No authority vouches for the certificate: its fingerprint does, below. That the other end has its key, the handshake shows all the same.
  mbedtls_ssl_conf_authmode(&config, MBEDTLS_SSL_VERIFY_OPTIONAL);
  if (failed == 0) failed = mbedtls_ssl_setup(&ssl, &config);
  if (failed != 0) return Error(ErrorCode::infrastructure, fmt::format("Expected to make an encrypted connection, and it failed: {}", reason_of(failed)));
  mbedtls_ssl_set_bio(&ssl, impl.get(), Impl::give, Impl::take, nullptr);
  for (int step; (step = mbedtls_ssl_handshake(&ssl)) != 0;) {
    if (!waits(step)) {
      const bool broken = impl->system_error != 0 || step == MBEDTLS_ERR_SSL_CONN_EOF;
      return Error(broken ? ErrorCode::io_error : ErrorCode::invalid_argument,
                   fmt::format("Expected an encrypted connection to {}, and there came none: {}", where, broken ? impl->error(step).message : reason_of(step)));
    }
    TW_TRY(const bool ready, wait_for(fd, event_of(step), deadline));
    if (!ready) return Error(ErrorCode::timeout, fmt::format("Expected an encrypted connection to {}, and there came no answer in time", where));
  }
  const mbedtls_x509_crt* certificate = mbedtls_ssl_get_peer_cert(&ssl);
  const std::string found = certificate == nullptr ? "none" : sha256_hex(std::as_bytes(std::span(certificate->raw.p, certificate->raw.len)));
  if (found != fingerprint)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected the certificate {} at {}, found {}: this is another server, or its certificate was made anew and there is another line; nothing was sent",
                                                          printable(fingerprint), where, found));
  return std::unique_ptr<TlsChannel>(new TlsChannel(std::move(impl)));
}

Expected<void> TlsChannel::send(std::string_view bytes, process::Deadline deadline) {
  while (!bytes.empty()) {
    const int n = mbedtls_ssl_write(&impl_->context, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (waits(n)) {
      TW_TRY(const bool ready, wait_for(impl_->fd, event_of(n), deadline));
      if (!ready) return lost("it takes nothing any more");
    } else {
      impl_->ended = n;
      return impl_->error(n);
    }
  }
  return {};
}

Expected<bool> TlsChannel::receive(std::string& to, process::Deadline deadline) {
  Impl& s = *impl_;
  if (s.ended != 0) return s.error(s.ended);
  for (bool any = false;;) {
    s.may_read_ahead = !any;
    char piece[MBEDTLS_SSL_MAX_CONTENT_LEN];
    const int n = mbedtls_ssl_read(&s.context, reinterpret_cast<unsigned char*>(piece), sizeof piece);
    if (n > 0) {
      to.append(piece, static_cast<size_t>(n));
      any = true;
      if (s.begin == s.end && mbedtls_ssl_get_bytes_avail(&s.context) == 0) return true;
      continue;
    }
    if (!waits(n)) s.ended = n == 0 ? MBEDTLS_ERR_SSL_CONN_EOF : n;
    if (any) return true;  // an end is told with the next call
    if (s.ended != 0) return s.error(s.ended);
    TW_TRY(const bool ready, wait_for(s.fd, event_of(n), deadline));
    if (!ready) return false;
  }
}

}  // namespace tw::farm
