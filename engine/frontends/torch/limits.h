// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What an archive may ask for before it is refused: a small file can describe absurdly large things.
namespace tw::frontends::torch_limits {

inline constexpr int64_t kMembers = 200'000;
inline constexpr int64_t kNameBytes = 4096;
inline constexpr int64_t kCodeBytes = int64_t{1} << 26;  ///< of TorchScript, unpacked
inline constexpr int64_t kJsonBytes = int64_t{1} << 30;
inline constexpr int64_t kTensorBytes = int64_t{1} << 36;
inline constexpr int64_t kNodes = 1'000'000;  ///< after inlining
inline constexpr int64_t kRank = 16;
inline constexpr int kNesting = 32;           ///< graphs inside each other, and of symbolic expressions
inline constexpr int64_t kUnrolled = 4096;    ///< steps of a recurrence
inline constexpr int64_t kMadeElements = int64_t{1} << 28;  ///< of a constant that a node makes

}  // namespace tw::frontends::torch_limits
