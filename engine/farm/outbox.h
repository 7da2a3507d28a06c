// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
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
  /// `written` is called on another thread when there is more to send; `note` with what a person should know.
  Outbox(Spool spool, const std::string& farm, std::function<void()> written, std::function<void(const std::string&)> note)
      : spool_(std::move(spool)), names_(farm), on_written_(std::move(written)), note_(std::move(note)) {}

  void add(const Result& result, const std::string& acknowledge);
  /// What was sent over an earlier connection and not confirmed is sent again.
  void reconnected() { awaited_.clear(), sent_.clear(); }
  /// Sends what is due. Errors: of the connection; timeout.
  Expected<void> step(NatsClient& client);
  /// False if the message is none of its own. Errors: of the connection; what the server says.
  Expected<bool> hear(NatsClient& client, const Message& message);
  /// Until everything is written; nobody is told any more.
  void wait_for_disk() { writing_.clear(); }
  size_t size() const { return spool_.entries().size(); }

 private:
  struct Awaited {
    std::string identity, acknowledge;
    bool stored = false;  ///< the server keeps it, and is to say that the job is done
    Clock::time_point at;
  };
  void hear_written();
  void done(const std::string& identity);

  Spool spool_;
  Names names_;
  std::map<std::string, Awaited> awaited_;  ///< by where the answer comes to
  std::set<std::string> sent_;              ///< identities in it
  std::function<void()> on_written_;
  std::function<void(const std::string&)> note_;
  struct Write {
    std::future<Expected<void>> end;
    std::shared_ptr<std::atomic<bool>> ended;  ///< the future is ready only a moment after it
  };
  std::map<std::string, Write> writing_;  ///< by identity; they end before the spool goes
};

}  // namespace tw::farm
