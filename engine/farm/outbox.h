// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/farm/messages.h"
#include "engine/farm/moment.h"
#include "engine/farm/names.h"
#include "engine/farm/nats_client.h"
#include "engine/farm/spool.h"

namespace tw::farm {

/// Results on their way to the server: each is a file first, then sent; its job is acknowledged once the server keeps it, and then the file goes. Several are
/// on their way at a time, and nothing here waits.
class Outbox {
 public:
  Outbox(Spool spool, const std::string& farm) : spool_(std::move(spool)), names_(farm) {}

  /// Errors: those of the file; the result is kept in memory all the same.
  Expected<void> add(const Result& result, const std::string& acknowledge);
  /// What was sent over an earlier connection and not confirmed is sent again.
  void reconnected() { awaited_.clear(), sent_.clear(); }
  /// Sends what is due. Errors: of the connection; timeout.
  Expected<void> step(NatsClient& client);
  /// False if the message is none of its own. Errors: of the connection; what the server says.
  Expected<bool> hear(NatsClient& client, const Message& message);
  size_t size() const { return spool_.entries().size(); }

 private:
  struct Awaited {
    std::string identity, acknowledge;
    bool stored = false;  ///< the server keeps it, and is to say that the job is done
    Clock::time_point at;
  };
  void done(const std::string& identity);

  Spool spool_;
  Names names_;
  std::map<std::string, Awaited> awaited_;  ///< by where the answer comes to
  std::set<std::string> sent_;              ///< identities in it
};

}  // namespace tw::farm
