// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "engine/base/stop_token.h"
#include "engine/learner/messages.h"
#include "engine/process/child_process.h"
#include "engine/process/wake.h"

namespace tw::learner {

/// The program `tw-learner`: `given`, or where programs of this one lie. Errors: not_found, with the command that adds it.
Expected<std::string> find_program(const std::string& given = {});

struct LearnerOptions {
  std::string program;                               ///< empty: find_program
  int64_t memory_bytes = int64_t{4} << 30;           ///< that it may take beside what libtorch maps
  int deaths = 3;                                    ///< in a row, after which it is not started any more
  bool reads_scripts = false;                        ///< it answers questions about TorchScript files and no others
};

/// Candidates to learn from; the spans outlive the call.
struct FitData {
  std::span<const float> rows;       ///< of the network's columns
  std::span<const uint32_t> begins;  ///< the first row of each candidate, and one past the last of all
  std::span<const float> labels;     ///< speeds relative to the fastest of their task; for Loss::log_mse logarithms of speeds
  std::span<const uint32_t> tasks;   ///< of each candidate
};
struct Fitted {
  std::vector<float> weights;
  std::vector<double> losses;  ///< of each epoch, the mean over candidates
};

/// The process that fits neural networks and computes them. Started with the first question and again after its death; all that it knows it was told, so that
/// nothing is lost with it but the answer under way. One thread at a time.
class Learner {
 public:
  explicit Learner(LearnerOptions options = {}) : options_(std::move(options)) {}

  /// Learns from `data`, from `weights` on or, if there are none, from nothing. A stop ends it early with what was learned by then; `progress` is told of every epoch.
  /// Errors: not_found where the program is not there; crash with how the process ended; infrastructure once it died too often in a row; out_of_memory.
  Expected<Fitted> fit(const Network& network, std::span<const float> weights, const FitData& data, const FitOptions& options, StopToken stop = {},
                       const std::function<void(int epoch, int of, double loss)>& progress = {});
  /// One score for each candidate. `version` tells weights apart that this object was given; a process that has them is not sent them again.
  /// `batch_statistics`: batch normalisation by the candidates themselves instead of what it saw when it learned. Errors: as of fit.
  Expected<std::vector<float>> predict(const Network& network, std::span<const float> weights, uint64_t version, std::span<const float> rows,
                                       std::span<const uint32_t> begins, bool batch_statistics, int threads);

  /// Asks one question and hands `take` the parts of its answer, until it says that one was the last. A stop ends the process.
  /// Errors: as of fit; cancelled; what the process or `take` says.
  Expected<void> ask(const Json& header, std::span<const std::byte> payload, StopToken stop, const std::function<Expected<bool>(process::Frame&&)>& take);

  /// Of the process, if there is one.
  pid_t pid() const { return process_ ? process_->pid() : -1; }
  /// What it said of itself when it was started: "torch", "started_s".
  const Json& about() const { return about_; }

 private:
  Expected<void> ensure(const process::StopFd& stop);
  Expected<void> send(const Json& header, std::span<const std::byte> payload);
  /// The next frame. A stop is told to the process once, and the answer awaited all the same; a process that reads scripts is ended.
  Expected<process::Frame> next(double patience_s, const process::StopFd& stop);
  Error dead(const Error& why);

  LearnerOptions options_;
  std::unique_ptr<process::ChildProcess> process_;
  Json about_;
  int deaths_ = 0;             ///< since the last answer
  uint64_t loaded_ = 0;        ///< version of the weights that the process has; 0: none
};

}  // namespace tw::learner
