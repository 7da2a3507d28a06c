// SPDX-License-Identifier: Apache-2.0
// In place of tls_channel.cpp where an agent is built without mbedTLS.
#include "engine/base/assert.h"
#include "engine/farm/tls_channel.h"

namespace tw::farm {

struct TlsChannel::Impl {};

Expected<std::unique_ptr<TlsChannel>> TlsChannel::open(int, const std::string&, const std::string&, process::Deadline) {
  return Error(ErrorCode::invalid_argument,
               "The farm takes encrypted connections only, which this tw-agent was built without; build it again where installers/fetch_mbedtls.sh has fetched mbedTLS for its processor");
}

TlsChannel::TlsChannel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsChannel::~TlsChannel() = default;
Expected<void> TlsChannel::send(std::string_view, process::Deadline) { throw InternalError("no TLS channel can be open"); }
Expected<bool> TlsChannel::receive(std::string&, process::Deadline) { throw InternalError("no TLS channel can be open"); }

}  // namespace tw::farm
