// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/expected.h"

/// NVIDIA's run-time compiler, opened when it is first needed. No GPU and no driver are.
/// Source: NVRTC documentation, CUDA Toolkit 13.0; the resources are those that ptxas -v reports.
namespace tw::codegen {

/// What one kernel takes on the processor it was compiled for.
struct KernelResources {
  std::string name;
  int registers = 0;                                    ///< per thread
  int64_t stack_bytes = 0;                              ///< per thread; more than 0 means arrays that did not become registers
  int64_t spill_store_bytes = 0, spill_load_bytes = 0;  ///< per thread
  int64_t shared_bytes = 0;                             ///< per block, as declared
  int barriers = 0;
};

struct CudaBinary {
  std::vector<std::byte> cubin;
  std::string ptx;
  std::string log;
  std::vector<KernelResources> kernels;
  std::vector<int> ptx_line_to_source;  ///< per line of `ptx` (0-based) the line of the source (0-based) that it came from, or -1; empty without `lines`
};

/// "NVRTC 13.0". Errors: not_found, in one sentence, where there is no library; it is $TW_NVRTC or looked for by name, in $CUDA_HOME, and in /usr/local/cuda*.
Expected<std::string> nvrtc_version();
/// Compute capabilities that it compiles for, such as 80, ascending. Errors: as nvrtc_version.
Expected<std::vector<int>> nvrtc_archs();
/// Compiles for one real architecture, with a table of lines if asked for. Safe to call from several threads at once.
/// Errors: not_found without NVRTC; unsupported for an architecture that it does not know; resource_limit where the assembler refuses what a kernel takes;
/// internal with the first complaint about the text
Expected<CudaBinary> nvrtc_compile(const std::string& source, int capability, bool lines = false);

/// Those of a kernel by its name: a log has them in an order of its own. Null if it is not among them.
const KernelResources* find_resources(const std::vector<KernelResources>& kernels, const std::string& name);
/// The resources that a log of ptxas -v names.
std::vector<KernelResources> parse_resources(const std::string& log);

}  // namespace tw::codegen
