// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What a model file may ask for before it is refused: a small file can describe absurdly large things.
namespace tw::frontends::onnx_limits {

inline constexpr int64_t kFileBytes = (int64_t{1} << 31) - 1;  ///< protobuf's own limit
inline constexpr int64_t kTensorBytes = int64_t{1} << 36;
inline constexpr int64_t kSparseElements = int64_t{1} << 28;  ///< of a tensor that is written without its zeros
inline constexpr int64_t kNodes = 1'000'000;  ///< after inlining functions and branches
inline constexpr int64_t kTensors = 100'000;  ///< initialisers and constants of one graph
inline constexpr int64_t kUnrolled = 4096;    ///< steps of a recurrence
inline constexpr int kNesting = 64;           ///< functions and branches inside each other
inline constexpr int kRank = 16;
inline constexpr int64_t kStringBytes = 1 << 20;
inline constexpr int64_t kExternalFiles = 256;

}  // namespace tw::frontends::onnx_limits
