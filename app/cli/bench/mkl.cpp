// SPDX-License-Identifier: Apache-2.0
// MKL's sgemm through the C interface to BLAS.
#include <cstdlib>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/blas.h"
#include "app/cli/bench/peer_library.h"
#include "engine/base/text.h"

namespace tw::cli::bench {

Expected<std::unique_ptr<Peer>> mkl_peer(const std::vector<int>& processors, const std::vector<std::string>& folders) {
  const Affinity all(processors);  // what its threads inherit
  setenv("KMP_BLOCKTIME", "5", 0);  // milliseconds that its threads spin after a call
  TW_TRY(const PeerLibrary library, open_peer_library(folders, {"libmkl_rt.so.3", "libmkl_rt.so.2"}));
  const Sgemm sgemm{library.function<void*>("cblas_sgemm"), false};
  const auto set_threads = library.function<void (*)(int)>("MKL_Set_Num_Threads");
  const auto version = library.function<void (*)(char*, int)>("MKL_Get_Version_String");
  if (sgemm.function == nullptr || set_threads == nullptr || version == nullptr)
    return Error(ErrorCode::unsupported, fmt::format("'{}' lacks functions of MKL", library.name));
  set_threads(static_cast<int>(processors.size()));
  constexpr int64_t kSide = 512;  // enough for all threads: they begin here, where they may use all processors
  const KernelCase warm = dense_case(kSide, kSide, kSide);
  const auto peer = blas_peer("MKL", sgemm, "");
  TW_TRY(const auto kernel, peer->prepare(warm, make_data(warm, 1), 1));
  kernel->run();
  char text[200] = "";
  version(text, sizeof text);
  return blas_peer("MKL", sgemm, std::string(trim(text)));
}

}  // namespace tw::cli::bench
