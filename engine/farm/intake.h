// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bounded_cache.h"
#include "engine/farm/lease.h"
#include "engine/farm/messages.h"
#include "engine/farm/names.h"

namespace tw::farm {

using ObjectPtr = std::shared_ptr<const std::vector<std::byte>>;

/// A job that was handed out to this device.
struct HeldJob {
  Job job;
  ObjectPtr object;     ///< its code; null if it is refused
  std::string refused;  ///< why this device cannot measure it; empty: it can
  std::string queue;    ///< that it came from
  std::string acknowledge;
  uint64_t sequence = 0;
  int deliveries = 1;
  Lease lease;
};

/// Jobs on their way to a device: asks the queues, fetches code, and keeps what is there until it is taken, the most urgent first.
///
/// A device that measures has the next jobs fetched meanwhile, so many that none is waited for: what fetching takes at its slower end, in measurements, from
/// both as they were lately. It does so only while every device of the kind finds another one, so that nobody hoards what others could begin with at once.
/// Nothing here waits.
class Intake {
 public:
  struct Options {
    std::string farm, kind, device;
    double lease_s = kLeaseSeconds;
    std::function<std::string(const Job&)> refusal;  ///< why the device cannot measure it; empty: it can
    std::function<void(const std::string&)> note;
  };
  explicit Intake(Options options) : options_(std::move(options)), names_(options_.farm) {}

  /// What was asked over an earlier connection is not answered any more, and what was handed out to it may be another device's soon.
  void reconnected();
  /// Sends what is due. `open`: the device takes jobs, else what it has goes back; `busy`: it measures. Errors: of the connection; timeout.
  Expected<void> step(NatsClient& client, bool open, bool busy);
  /// False if the message is none of its own. Errors: of the connection.
  Expected<bool> hear(NatsClient& client, const Message& message);
  /// The next job to be measured, or to be refused.
  std::optional<HeldJob> take();
  /// Somebody said that a queue has a job; without a name, that one may.
  void told(const std::string& queue = {});
  /// How long a measurement took.
  void measured(double seconds);
  /// What a session does not want any more is not kept for it.
  void drop(const std::string& session);
  bool empty() const { return ready_.empty() && coming_.empty(); }
  /// Seconds until step() has something to do that no message tells of.
  double due_s(bool busy) const;

 private:
  struct Ask {
    std::string queue;
    Clock::time_point at;
    bool late = false;  ///< its queue may be missing; nobody waits for it
  };
  struct Coming {
    HeldJob held;
    Clock::time_point asked;
    std::vector<std::optional<std::string>> pieces;
    size_t next = 0;  ///< piece to ask for
    size_t left = 0;  ///< pieces that are not here
  };
  struct Piece {
    uint64_t coming = 0;
    size_t number = 0;
    Clock::time_point at;
  };
  int missing(bool busy) const;
  int spares() const;
  Expected<void> ask(NatsClient& client, bool busy);
  Expected<void> fetch(NatsClient& client);
  Expected<void> keep_leases(NatsClient& client);
  Expected<void> give_back(NatsClient& client);
  Expected<void> give_back(NatsClient& client, const HeldJob& held);
  Expected<void> pass_on(NatsClient& client, const std::string& queue);
  Expected<void> receive(NatsClient& client, const Message& message);
  bool hear_piece(const Message& message);
  void queue_is_empty(const Ask& ask);
  void complete(Coming coming);
  void ready(HeldJob held);

  Options options_;
  Names names_;
  BoundedCache<ObjectPtr> kept_{int64_t{64} << 20};  ///< code by its digest
  std::deque<HeldJob> ready_;                        ///< the most urgent first
  std::map<uint64_t, Coming> coming_;
  uint64_t last_coming_ = 0;
  std::map<std::string, Piece> pieces_;                  ///< that were asked for, by where they come to
  std::map<std::string, Ask> asked_;                     ///< by where it is said that there is none
  std::deque<std::string> order_;                        ///< queues of the present look; the first one is being asked
  std::string source_;                                   ///< the queue that the last job came from
  std::map<std::string, Clock::time_point> not_before_;  ///< queues that were empty or missing, and when to ask them again
  std::vector<std::string> told_;                        ///< queues of jobs that this device was told of and has not got yet
  bool look_ = true, open_ = false, busy_ = false;
  Clock::time_point looked_{};
  int64_t waiting_ = 0;                                             ///< jobs behind the last one that came
  int takers_ = 1;                                                  ///< devices that want one
  double coming_s_ = 0, coming_deviation_s_ = 0, measuring_s_ = 0;  ///< lately; 0: not known
};

}  // namespace tw::farm
