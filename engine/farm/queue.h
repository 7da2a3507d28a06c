// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/stop_token.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/messages.h"
#include "engine/farm/moment.h"
#include "engine/farm/names.h"

namespace tw::farm {

/// A session's side of a farm: puts jobs in, hears what came of them, and sees to it that none is lost, whatever happens to devices, to the server and to this
/// program. One thread at a time; nothing happens between calls, as the server keeps what arrives.
class Queue {
 public:
  struct Options {
    Access access;
    std::string kind, session;
    int priority = 1;
    double lease_s = kLeaseSeconds;
    double reconcile_s = 30;  ///< between looks at whether everything that is waited for is still on its way
    std::function<void(const std::string&)> notice;  ///< what a person should know while it takes long; may be empty
  };
  explicit Queue(Options options) : options_(std::move(options)), names_(options_.access.farm) {}

  /// Connects, makes what is missing at the server. Errors: io_error if it is not there; what it says.
  Expected<void> open();
  /// Puts a job in, for any device of the kind or for one. Its code is kept until the result is there, in case that the server loses it.
  /// A job of the same trial that is there already, of an earlier life of this session, is the same one. Several are on their way at a time: what the server
  /// says of one is heard with what comes next. Errors: resource_limit; cancelled. A server that is away is waited for.
  Expected<void> put(const Job& job, std::shared_ptr<const std::vector<std::byte>> object, const std::string& device, StopToken stop);
  /// Puts a job that is waited for in again, for any device.
  Expected<void> put_for_any(const std::string& trial, StopToken stop);
  /// The server may not have the code any more: it is put in again with the next job that needs it.
  void doubt(const std::string& sha) { artefacts_.erase(sha); }
  /// Results that have arrived, the first of each trial; waits for one so long. Errors: cancelled; what waiting for a server cannot mend.
  Expected<std::vector<Result>> receive(double wait_s, StopToken stop);
  /// What was received so far is stored: the server may forget it.
  Expected<void> settle();
  /// Takes back what is waited for.
  void cancel();

  struct Seen {
    Presence presence;
    Clock::time_point heard;
  };
  /// Devices of the kind that were heard of, by name.
  const std::map<std::string, Seen>& devices() const { return devices_; }
  bool is_here(const std::string& device) const;
  size_t waited_for() const { return pending_.size(); }
  /// Asks a device to do something (see agent.cpp). Errors: not_found if it does not answer.
  Expected<Json> control(const std::string& device, const Json& question);
  /// Results that came twice or after their turn, jobs that had to be put in again, and times that the server was away.
  struct Counts {
    int64_t received = 0, late = 0, put_again = 0, reconnected = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Pending {
    Job job;
    std::shared_ptr<const std::vector<std::byte>> object;
    std::string queue;
    uint64_t sequence = 0;   ///< at the server; 0: it has not said that it keeps the job
    size_t pieces_left = 0;  ///< of the code, that the server has not said it keeps
    Clock::time_point look;  ///< when to see whether it is still on its way
  };
  Expected<void> connect_once();
  /// Devices that take jobs.
  int takers();
  /// Runs something that needs the server, again after every loss of the connection.
  template <class Work>
  Expected<void> insist(const Work& work, StopToken stop);
  /// What the server is to say that it keeps.
  struct Awaited {
    std::string trial;
    bool is_job = false;  ///< else a piece of its code
    Clock::time_point at;
  };
  Expected<void> put_now(const std::string& trial, Pending& p);
  Expected<void> put_job(const std::string& trial, Pending& p);
  Expected<void> hear_stored(const Awaited& awaited, const Message& m);
  /// Hears the server until at most so many of what was sent are open.
  Expected<void> wait_for_stored(size_t open);
  Expected<void> make_device_queues();
  Expected<void> wake(const std::string& queue);
  Expected<void> ask_for_results();
  Expected<void> take(Message m, std::vector<Result>& out);
  Expected<void> reconcile(std::vector<Result>& out);
  void say(const std::string& text) const {
    if (options_.notice) options_.notice(text);
  }

  Options options_;
  Names names_;
  std::unique_ptr<NatsClient> client_;
  std::map<std::string, Pending> pending_;  ///< by trial
  std::map<std::string, Awaited> awaited_;  ///< by where the answer comes to
  std::vector<Result> arrived_;             ///< while something else was waited for
  std::set<std::string> artefacts_;         ///< that this server has
  std::set<std::string> device_queues_;     ///< that were made
  std::vector<std::string> unsettled_;      ///< acknowledgements that are owed
  std::string asked_;                       ///< where results come to; empty: none are asked for
  int asked_left_ = 0;                      ///< results that the question still stands for
  Clock::time_point asked_until_{}, reconciled_{};
  std::map<std::string, Seen> devices_;
  int takers_ = 0;
  Clock::time_point counted_{};
  Counts counts_;
};

}  // namespace tw::farm
