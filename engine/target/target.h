// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"
#include "engine/target/gpu.h"

namespace tw {

/// What code is generated for. A value: detected from the host or looked up by name, never global state.
struct Target {
  std::string kind = "llvm";    ///< code generator: "llvm" or "cuda"
  std::string cpu = "generic";  ///< LLVM's name of the processor, such as "znver4"
  /// LLVM feature flags with their sign, such as "+avx512f"; empty means what `cpu` implies. Of a GPU "+tf32" or nothing: whether products in float32 may be
  /// rounded to TF32 for its tensor cores.
  std::vector<std::string> features;
  int vector_bits = 128;  ///< width of one vector register
  int vector_registers = 16;
  int cores = 1;  ///< threads that a parallel loop uses
  int64_t l1d_bytes = 32 * 1024;
  int l1d_ways = 8;
  int64_t l2_bytes = 512 * 1024;
  int64_t l3_bytes = 8 * 1024 * 1024;
  int64_t l3_share_bytes = 2 * 1024 * 1024;  ///< of it for each of the cores that share it
  std::optional<target::Gpu> gpu;  ///< of kind "cuda", and only there; what is above says nothing then

  friend bool operator==(const Target&, const Target&) = default;

  bool allows_tf32() const;
  /// Scalars of `t` in one vector register.
  int lanes(DType t = kFloat32) const { return vector_bits / (8 * t.bytes()); }
  /// What stays in caches from one run of a network to the next: of `cores` cores, each its share of the last level, or its own cache where that is larger; of
  /// a GPU its level-2 cache.
  int64_t kept_bytes() const;
  /// Target string as TVM prints it: `llvm -mcpu=znver4 -num-cores=2`, `cuda -arch=sm_80 -model=a100`, with `-mattr=+tf32` where that is allowed.
  std::string str() const;
};

/// The machine we run on: processor and features from LLVM's tables or the operating system, caches from sysfs.
Target host_target();

/// `llvm` (the host), `llvm -mcpu=NAME [-num-cores=N]`, or a preset's NAME; `cuda:NAME` or `cuda -model=NAME` for a GPU by name, or `cuda -arch=sm_80` for one
/// like it; dashes may be doubled and values follow a space, as TVM writes them,
/// and its JSON (`{"kind": "llvm", "mcpu": ...}`) and tags (`nvidia/nvidia-a100`) are understood; `cuda:NAME,tf32` or the flag `-mattr=+tf32` allows TF32. Unknown
/// flags and names are refused by name.
Expected<Target> parse_target(std::string_view text);

/// Instruction sets, in LLVM's names, that code for one processor may use and another lacks, or the architecture where that is another; empty where either is no
/// processor.
std::vector<std::string> missing_features(const Target& code, const Target& machine);

/// Names of processors that parse_target knows besides `llvm`.
std::vector<std::string> target_presets();

/// A target for a GPU that is here or known by name.
Target gpu_target(const target::Gpu& gpu);
/// The same GPU with TF32 allowed; `text` is what the user wrote. Errors: invalid_argument for GPUs older than compute capability 8.0, and processors.
Expected<Target> allow_tf32(Target t, std::string_view text);

Json to_json(const Target&);
Expected<Target> target_from_json(const Json&);

}  // namespace tw
