// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "engine/process/frame.h"
#include "engine/process/sandbox.h"

namespace tw::process {

/// How far a forked process has come; in memory shared with the process that watches, which trusts it only to say whose fault a death is.
/// `first` is the beginning of its run, for those that have a limit of their own for it.
enum class Phase : int32_t { setup, load, first, run, done };

struct SharedPhase {
  std::atomic<Phase> phase{Phase::setup};
  std::atomic<int64_t> run_start_ns{0};  ///< CLOCK_MONOTONIC; set before `phase` becomes first or run
};

struct ForkLimits {
  double startup_s = 0;      ///< until it begins to run
  double run_s = 0;          ///< from then on
  uint64_t max_payload = 0;  ///< of its answer
  double first_s = 0;        ///< of `run_s`, as long as its phase is `first`; 0: no less than run_s
};

/// How a forked process ended.
struct ForkEnd {
  std::optional<Frame> frame;                 ///< its answer; only of those that ended with code 0
  std::string printed;                        ///< the end of what it printed
  bool timed_out = false, abandoned = false;  ///< abandoned: the other end of this program's channel is gone
  int status = 0;                             ///< as of waitpid
  Phase phase = Phase::setup;
  double suspended_s = 0;      ///< how long the machine slept meanwhile
  bool out_of_memory = false;  ///< the system killed somebody for lack of memory meanwhile
  bool stopped = false;        ///< it did nothing until its time was over, because somebody had stopped it
};

/// Runs pieces of work that may crash or hang, each in a process forked for it, one after the other.
class WatchedFork {
 public:
  WatchedFork();
  SharedPhase& shared() { return *shared_; }
  /// As Sandbox::name.
  const char* isolation() const { return sandbox_.name(); }
  /// Runs `work` in a fresh process, which sends what it returns and ends. The clocks are watched here: who takes too long is killed. Meanwhile whoever started
  /// this program gets a frame `alive` every second. Errors: infrastructure if
  /// there is no process.
  Expected<ForkEnd> run(const ForkLimits& limits, const std::function<Frame()>& work);

 private:
  SharedPhase* shared_;
  Sandbox sandbox_;
};

}  // namespace tw::process
