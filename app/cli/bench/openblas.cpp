// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's sgemm through the C interface to BLAS.
#include <cstdlib>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/blas.h"
#include "app/cli/bench/peer_library.h"
#include "engine/base/text.h"

namespace tw::cli::bench {

Expected<std::unique_ptr<Peer>> openblas_peer(const std::vector<int>& processors, const std::vector<std::string>& folders) {
  const Affinity others(processors.size() > 1 ? std::vector<int>(processors.begin() + 1, processors.end()) : processors);  // what its threads inherit
  // Its threads spin for 2^20 clock ticks instead of 2^26 after a call, so that they disturb nobody measured next. What the environment says may be meant for
  // other programs.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
  unsetenv("OPENBLAS_L2_SIZE");
  unsetenv("OPENBLAS_CORETYPE");
  // Debian's version is from before recent processors' time and takes generic kernels for them: those for Skylake are the fastest wherever there is AVX-512.
  auto library = open_peer_library(folders, {"libscipy_openblas64_.so"});
  const bool told = !library && __builtin_cpu_supports("avx512f") && setenv("OPENBLAS_CORETYPE", "SkylakeX", 1) == 0;
  if (!library) library = open_peer_library(folders, {"libopenblas.so.0"});
  if (!library) return Error(ErrorCode::not_found, library.error().message + "; Debian's package is libopenblas0-pthread");
  const bool wide = library->name != "libopenblas.so.0";  // that one's names have a prefix and its numbers 64 bits
  const auto name = [&](const char* symbol) { return wide ? fmt::format("scipy_{}64_", symbol) : std::string(symbol); };
  const Sgemm sgemm{library->function<void*>(name("cblas_sgemm").c_str()), wide};
  const auto set_threads = library->function<void (*)(int)>(name("openblas_set_num_threads").c_str());
  const auto config = library->function<const char* (*)()>(name("openblas_get_config").c_str());
  if (sgemm.function == nullptr || set_threads == nullptr || config == nullptr)
    return Error(ErrorCode::unsupported, fmt::format("'{}' lacks functions of OpenBLAS", library->name));
  set_threads(static_cast<int>(processors.size()));
  return blas_peer("OpenBLAS", sgemm, fmt::format("{}{}", trim(config()), told ? ", chosen by OPENBLAS_CORETYPE=SkylakeX" : ""));
}

}  // namespace tw::cli::bench
