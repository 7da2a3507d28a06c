// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"

/// Code for a GPU as data: what a device loads and how it is launched.
namespace tw::runtime {

/// One launch of a `__global__` function.
struct GpuLaunch {
  std::string kernel;  ///< name in the images
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  int64_t dynamic_shared_bytes = 0;
  /// Pointers in this order: the number of an argument of the function or, counted on from the last of them, of a workspace.
  std::vector<int> params;
  friend bool operator==(const GpuLaunch&, const GpuLaunch&) = default;
};

/// What one kernel of a network is on a GPU: launches one after the other, with arrays of their own between them.
struct GpuFunction {
  std::string symbol;  ///< KernelSignature::name
  int arguments = 0;
  std::vector<GpuLaunch> launches;
  std::vector<int64_t> workspace_bytes;
  std::string loops;                               ///< text of the lowered function, as tir::print writes it: what simulated devices run
  std::string source;                              ///< CUDA C++: compiled again where no image fits
  std::map<int, std::vector<std::byte>> images{};  ///< machine code by compute capability
  friend bool operator==(const GpuFunction&, const GpuFunction&) = default;

  /// The image that a GPU of this capability runs best: its own, or the newest older one of the same major version. Null if there is none. Orin's (8.7) runs
  /// nowhere else and nothing else runs there. Source: CUDA Programming Guide, binary compatibility.
  const std::vector<std::byte>* image_for(int capability) const;
};

/// Without the images.
Json to_json(const GpuFunction&);
/// Errors: parse_error; corrupt for sizes no GPU has and parameters that do not exist.
Expected<GpuFunction> gpu_function_from_json(const Json&);

}  // namespace tw::runtime
