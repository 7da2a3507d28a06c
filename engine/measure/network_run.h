// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/base/host_array.h"
#include "engine/base/json_fwd.h"
#include "engine/process/frame.h"
#include "engine/runtime/executable.h"

namespace tw::measure {

/// A whole network that a measuring worker runs, perhaps on another machine: once to warm up, then so many times, in a process of its own. Network and inputs
/// are one sequence of bytes (network_bytes), which may be kept and sent by its digest.
struct NetworkRun {
  int repeat = 10;
  double startup_limit_s = 60;  ///< before the first run
  double run_limit_s = 60;      ///< of all runs together, from the first one on
  int64_t memory_bytes = 0;     ///< address space for all of it
};
inline constexpr const char* kNetworkCommand = "network";  ///< of the frame that asks for it

/// What came of it.
struct NetworkRunTimes {
  std::vector<double> runs_s;      ///< in order, in seconds
  std::vector<HostArray> outputs;  ///< of the last one, row-major, as the executable has them
};

/// A question to a worker: the header; the bytes are its payload.
Json to_json(const NetworkRun& run);
/// Errors: parse_error.
Expected<NetworkRun> network_run_from_json(const Json& json);
/// The network without the graph that it was made of, as nobody checks it there, and its inputs by name.
std::vector<std::byte> network_bytes(const runtime::Executable& executable, const std::map<std::string, HostArray>& inputs);
/// What running those bytes takes in memory.
int64_t network_memory_bytes(const runtime::Executable& executable, size_t bytes);

/// Several networks, without inputs, as one sequence of bytes: what they have in common, such as weights, is there once.
std::vector<std::byte> networks_bytes(std::span<const std::shared_ptr<const runtime::Executable>> networks);
/// Errors: parse_error and corrupt for bytes that are no networks.
Expected<std::vector<std::shared_ptr<const runtime::Executable>>> networks_from_bytes(std::span<const std::byte> bytes);

/// Seeded values for every input by name: floats uniform in [-1, 1), integers in [0, 10), booleans.
std::map<std::string, HostArray> random_inputs(const runtime::Executable& executable, uint64_t seed);

/// Runs a network and its inputs in this process, which they may crash. `begun` is told before the first run. Errors: parse_error and corrupt for bytes that are no network; those
/// of its code and its inputs.
Expected<NetworkRunTimes> run_network(const NetworkRun& run, std::span<const std::byte> bytes, const std::function<void()>& begun);

/// The answer as a frame; outputs travel as raw bytes, one after the other.
process::Frame to_frame(const NetworkRunTimes& times);
/// Errors: parse_error, as nothing in a reply is trusted; wrong_result with what the worker says went wrong.
Expected<NetworkRunTimes> network_run_from_frame(const process::Frame& frame, const NetworkRun& run, const runtime::Executable& executable);

}  // namespace tw::measure
