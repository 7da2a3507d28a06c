// SPDX-License-Identifier: Apache-2.0
#include "app/cli/peers.h"

#include <dlfcn.h>

namespace tw::cli {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;  // of the C interface to BLAS
using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                       float* c, int ldc);

}  // namespace

Expected<GemmPeer> openblas_gemm(int threads) {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const auto sgemm = library != nullptr ? reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm")) : nullptr;
  const auto set_threads = library != nullptr ? reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")) : nullptr;
  if (sgemm == nullptr || set_threads == nullptr) {
    return Error(ErrorCode::not_found, "Expected libopenblas.so.0 to compare with, found none; Debian's package is libopenblas0-pthread");
  }
  set_threads(threads);
  // The library stays open to the end of the process: its threads cannot be unloaded.
  return GemmPeer([sgemm](int64_t m, int64_t n, int64_t k, const float* x, const float* w, float* y) {
    sgemm(kRowMajor, kNoTranspose, kTranspose, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1, x, static_cast<int>(k), w, static_cast<int>(k),
          0, y, static_cast<int>(n));
  });
}

}  // namespace tw::cli
