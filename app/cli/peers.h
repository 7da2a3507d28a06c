// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/base/expected.h"

/// Other people's libraries to compare with; opened at run time, so that `tw` needs none of them.
namespace tw::cli {

/// y [M, N] = x [M, K] times the transpose of w [N, K], row-major float32.
using GemmPeer = std::function<void(int64_t m, int64_t n, int64_t k, const float* x, const float* w, float* y)>;

/// OpenBLAS on so many threads. Errors: not_found naming the Debian package.
Expected<GemmPeer> openblas_gemm(int threads);

}  // namespace tw::cli
