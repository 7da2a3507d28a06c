// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::runtime {

/// While it lives, the calling thread takes numbers below the smallest normal one (float32: 1.2e-38) for zero, as operands and as results. Processors take many
/// times as long for those, and for what rounds to zero from among them: attention over sequences that are filled up, whose masked scores have exponentials of
/// zero, takes 2.5 times the time on a Xeon without it. Executors and measuring workers hold one; the interpreter does not.
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(before_) | kFlushResults | kFlushOperands); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(before_)); }

 private:
  static constexpr uint32_t kFlushResults = 1U << 15, kFlushOperands = 1U << 6;  // FTZ and DAZ of MXCSR
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | kFlush));
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" : : "r"(before_)); }

 private:
  static constexpr uint64_t kFlush = 1U << 24;  // FZ
#else
  FlushDenormals() = default;
#endif
 public:
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace tw::runtime
