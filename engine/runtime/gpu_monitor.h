// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/expected.h"

/// NVIDIA's management library, which tells how a GPU is while it works; opened when it is first needed. Clocks are read and left as they are: a program that
/// dies would leave them locked. Source of functions and constants: NVML API, CUDA Toolkit 13.0 (nvml.h).
namespace tw::runtime {

struct GpuCondition {
  int clock_mhz = 0, most_mhz = 0;  ///< of the multiprocessors: now, and the highest that the card allows
  int celsius = 0;
  uint64_t slowed = 0;  ///< nvmlClocksEventReason bits
  int strangers = 0;    ///< processes with a context on it that this program did not start; 0 where the library does not show this one either
  bool power_capped() const;
  /// Slowed by heat, by its power supply or by its own protection.
  bool protecting_itself() const;
};

class GpuMonitor {
 public:
  /// `uuid` as in GpuProperties. Errors: not_found without the library ($TW_NVML names another file) or such a card; infrastructure with the library's code.
  static Expected<GpuMonitor> open(const std::string& uuid);
  Expected<GpuCondition> condition() const;

 private:
  explicit GpuMonitor(void* device) : device_(device) {}
  void* device_;
};

}  // namespace tw::runtime
