// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/handshake.h"

#include <poll.h>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/worker_process.h"

namespace tw::measure {

Expected<void> check_hello(const Frame& frame, const std::string& role) {
  const Json& h = frame.header;
  if (!h.contains("hello") || h["hello"] != role || !h.contains("protocol")) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a worker's greeting, found {}", printable(dump_json(h))));
  }
  if (h["protocol"] != kProtocolVersion) {
    return Error(ErrorCode::version, fmt::format("Expected a worker with protocol {}, found {}", kProtocolVersion, printable(dump_json(h["protocol"]))));
  }
  return {};
}

bool program_is_there() {
  pollfd channel{kChannelFd, POLLRDHUP, 0};
  return ::poll(&channel, 1, 0) <= 0;
}

}  // namespace tw::measure
