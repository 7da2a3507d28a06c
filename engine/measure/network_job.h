// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/host_array.h"
#include "engine/base/json_fwd.h"
#include "engine/process/frame.h"

namespace tw::measure {

/// Variants of one network that run by turns in one process: each round every one of them, in random order, some runs after one that only fills the caches, or one run
/// if it is long.
struct NetworkJob {
  std::vector<std::string> files;  ///< .twx, one per variant
  std::string device;              ///< GPU of networks for one, by open_gpu's names; empty: this machine's processors
  uint64_t seed = 1;               ///< of the inputs and the order
  int rounds = 8;
  double block_s = 0.03;  ///< of runs of one variant in one round, at least one run and at most kMostRuns
  double run_limit_s = 60;  ///< of all runs together, from the first one on
  bool outputs = false;     ///< the outputs come back too
};
inline constexpr int kMostRuns = 40;

struct VariantTimes {
  std::vector<double> runs_s;  ///< per round: the lower quartile of its runs
  /// Per call of the executable and round: the lower quartile over the runs of the round.
  std::vector<std::vector<double>> calls_s;
  std::vector<bool> woke;          ///< per call: in most of the runs its loops found threads asleep
  std::vector<HostArray> outputs;  ///< if they were asked for
};
struct NetworkTimes {
  std::vector<VariantTimes> variants;
};

Json to_json(const NetworkJob& job);
/// For a measuring worker, perhaps on another machine, which gets the networks (networks_bytes) with it instead of reading files.
inline constexpr const char* kRaceCommand = "race";
Json race_json(const NetworkJob& job, int64_t memory_bytes);
/// Errors: parse_error.
Expected<NetworkJob> network_job_from_json(const Json& json);
/// Outputs travel as raw bytes, one after the other.
process::Frame to_frame(NetworkTimes times);
/// Errors: parse_error; whatever the frame's sender says went wrong; nothing in a reply is trusted.
Expected<NetworkTimes> network_times_from_frame(const process::Frame& frame, const NetworkJob& job);

}  // namespace tw::measure
