// SPDX-License-Identifier: Apache-2.0
#include "engine/process/handshake.h"

#include <poll.h>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/child_process.h"

namespace tw::process {

Json hello(const std::string& role, int protocol) { return Json{{"hello", role}, {"protocol", protocol}}; }

Expected<void> check_hello(const Frame& frame, const std::string& role, int protocol) {
  const Json& h = frame.header;
  if (!h.contains("hello") || h["hello"] != role || !h.contains("protocol")) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a worker's greeting, found {}", printable(dump_json(h))));
  }
  if (h["protocol"] != protocol) {
    return Error(ErrorCode::version, fmt::format("Expected a worker with protocol {}, found {}", protocol, printable(dump_json(h["protocol"]))));
  }
  return {};
}

bool peer_is_there() {
  pollfd channel{kChannelFd, POLLRDHUP, 0};
  return ::poll(&channel, 1, 0) <= 0;
}

}  // namespace tw::process
