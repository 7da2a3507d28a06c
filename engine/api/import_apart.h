// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"

namespace tw::api {

/// What the process that reads a model file may take.
struct ImportLimits {
  /// Of memory; 0: 1 GiB and sixteen times the file and the files that it keeps its data in.
  int64_t memory_bytes = 0;
  /// Of time; what it reads adds a second for each 10 MB.
  double seconds = 60;
  std::string worker_path;  ///< of tw-worker; empty: beside the running program
};

/// As import_network, but a stranger's file is read, and its constants computed, by a process of its own (`tw-worker import`) within limits: a file of a few
/// bytes may ask for any amount of work. What comes back is verified as a file of ours is. Where `hooks` look on, the passes run here once more, as they have
/// been seen to end.
/// Errors: those of import_network; resource_limit, timeout and crash of that process; cancelled; infrastructure, not_found for the worker.
Expected<Network> import_network_apart(const std::string& path, const Target& target, const frontends::ImportOptions& options, const ImportLimits& limits,
                                       StopToken stop, const graph::PassHooks& hooks = {});

/// As frontends::open_sizes, by such a process.
Expected<std::vector<frontends::OpenSize>> open_sizes_apart(const std::string& path, const ImportLimits& limits, StopToken stop);

}  // namespace tw::api
