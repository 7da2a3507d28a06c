// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/measure/references.h"
#include "engine/process/child_process.h"
#include "engine/process/wake.h"

namespace tw::measure {

/// Of the frames between a program and its `tw-worker`.
inline constexpr int kProtocolVersion = 5;
/// How long a worker may take to say hello, and a candidate to be loaded: limits of their own, so that a busy machine is not taken for a slow kernel.
inline constexpr double kStartupSeconds = 30;
inline constexpr double kQueueSeconds = 600;  ///< for its turn, while other programs measure
inline constexpr double kPatience = 10;       ///< on top of all limits: by then the worker itself must be stuck
inline constexpr double kSaySeconds = 2;      ///< of waiting, after which a person hears what is waited for
/// Attempts at what only our machinery can fail at, each in a fresh worker.
inline constexpr int kInfraAttempts = 3;

/// The worker program: `given`, or `tw-worker` where programs of this one lie. Errors: not_found.
Expected<std::string> find_worker(const std::string& given);
/// Starts it in a role (`build`, `measure`, `gpu`, `network`), with a descriptor as kSharedFd if there is one; through another program, such as an emulator, if one is
/// named. Errors: infrastructure.
Expected<std::unique_ptr<process::ChildProcess>> start_worker(const std::string& program, const std::string& role, int64_t memory_bytes, int shared = -1,
                                                              const std::string& through = {});

/// A worker that answers questions one after the other; one that is gone, or was given up, is replaced with the next question.
class WorkerLink {
 public:
  WorkerLink(std::string program, std::string role, int64_t memory_bytes, std::string through = {})
      : program_(std::move(program)), role_(std::move(role)), through_(std::move(through)), memory_bytes_(memory_bytes) {}

  /// Told of the first frame of every worker.
  std::function<void(const process::Frame&)> greeted;
  /// Told, while it waits, whom for: who holds the device, or a worker that gives no sign of life.
  std::function<void(const std::string&)> notice;

  /// Sends one frame and waits for the answer. The worker is gone afterwards if anything was wrong. Errors: cancelled; timeout if nothing came; crash if the
  /// worker died; infrastructure.
  Expected<process::Frame> exchange(const Json& header, std::span<const std::byte> payload, double limit_s, const process::StopFd& stop_fd);
  /// The next frame that is more than a sign of life. Given up before the deadline is a worker that is stopped, and one that gave signs and then none for
  /// longer than starting may take.
  Expected<process::Frame> wait_for_frame(process::Deadline deadline, const process::StopFd& stop_fd);
  /// Has a MeasureJob in JSON measured: the worker says when the candidate's turn has come, since only one is measured at a time on a machine, and answers when it
  /// is done. `limit_s`: from then on.
  Expected<process::Frame> measure(const Json& job, std::span<const std::byte> object, double limit_s, const process::StopFd& stop_fd);
  /// How fast the machine is right now. Errors: as above.
  Expected<References> references(const process::StopFd& stop_fd);
  /// The next question goes to another worker.
  void drop() { process_.reset(); }

 private:
  Expected<void> ensure_worker(const process::StopFd& stop_fd);
  Error dead(const Error& why);
  void say(const std::string& text) const {
    if (notice) notice(text);
  }
  /// Says whom it waits for; an error if that has been long enough.
  std::optional<Error> silent_for(std::chrono::steady_clock::duration silence, bool gives_signs);

  std::string program_, role_, through_;
  int64_t memory_bytes_;
  std::unique_ptr<process::ChildProcess> process_;
};

}  // namespace tw::measure
