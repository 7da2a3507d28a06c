// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/file.h"
#include "engine/base/host_array.h"
#include "engine/runtime/artifact.h"

namespace tw::runtime {

/// One array of a compiled network.
struct Slot {
  enum class Kind : uint8_t { input, output, constant, intermediate };
  Kind kind = Kind::intermediate;
  ArgSpec spec;                                        ///< name, type, shape, layout
  int64_t offset = -1;                                 ///< intermediates: bytes into the arena
  std::shared_ptr<const ArrayBytes> data;              ///< constants
  bool packed = true;  ///< `data` is in the physical layout; else row-major: layouts that make weights larger are made when they are used
};
/// Writes a constant in its physical layout: spec.physical_bytes() bytes.
void write_constant(const Slot& slot, std::byte* out);

/// One kernel call.
struct Call {
  std::string symbol;
  std::string name;        ///< of the fused group, for people
  std::vector<int> slots;  ///< arguments in signature order
  std::string task_key;
  std::string origin;  ///< where the schedule came from, for people: "default", or "dense_pack.cpu #12, 1.2 us"
  std::string space;   ///< template that made the schedule, or "rule"
  std::string record;  ///< trial that it comes from, such as "session 3 (xgb), trial 12"; empty if nothing was measured
  double alone_s = 0;         ///< time of that trial in seconds; 0 if nothing was measured
  std::string alone_weights;  ///< records::weights_name of that trial
  double flops = 0;
  double function_calls = 0;       ///< te::function_calls: those of the operations that are values of functions
  double unread_bytes = 0;         ///< te::unread_bytes: of its arguments, what no run reads
  std::vector<std::string> nodes;  ///< graph nodes it computes
  bool on_host = false;            ///< of a network for a GPU: code of `Artifact::object`, run by the processor
  bool claimed = false;            ///< `record` was measured elsewhere, as a log says
};

/// A compiled network: a value that can be saved as one file (.twx) and run by GraphExecutor.
struct Executable {
  std::string name;
  std::string target;  ///< Target::str()
  Artifact artifact;   ///< all kernels in one object
  std::vector<Slot> slots;
  std::vector<Call> calls;                                                  ///< in order
  std::vector<int> inputs, outputs;                                         ///< slots
  int64_t arena_bytes = 0;                                                  ///< of all intermediates after storage reuse
  int64_t live_bytes = 0;                                                   ///< the most that intermediates need at one call: no arena can be smaller
  int64_t unplanned_bytes = 0;                                              ///< sum of all intermediates without reuse
  std::string graph_text;                                                   ///< the imported graph, for checking; constants by key
  std::map<std::string, std::shared_ptr<const HostArray>> graph_constants;  ///< constants of graph_text by content key, saved and loaded with it
  std::string source_model;                                                 ///< content key of the model file
};

/// One file: magic, version, checksum, zstd-compressed sections. Written beside, synced, renamed.
Expected<void> save(const Executable& e, const std::string& path);
/// Told by the magic word.
extern const FileKind kExecutableFile;
/// Errors: parse_error or corrupt for anything that is not a whole file of ours, version for a newer one.
Expected<Executable> load_executable(const std::string& path);

}  // namespace tw::runtime
