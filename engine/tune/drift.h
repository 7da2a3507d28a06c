// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/measure/references.h"

namespace tw::tune {

/// Watches whether the machine stays as fast as it was when the epoch began. Times of different epochs are compared only through kernels measured in both.
/// A shared host wavers by a few percent from second to second and changes its regime for minutes at a time. Measuring goes on while a change is doubtful, which
/// costs less than waiting; once it has lasted, a new epoch begins, and a few kernels are measured again.
class DriftGate {
 public:
  enum class State { steady, doubtful, new_epoch };

  /// Whether it is time to look, after so many more trials.
  bool due(int64_t trials, double now_s);
  /// Takes the first references as the epoch's. Arithmetic more than 3 % off or memory more than 15 % off, in either direction, is doubtful: looks
  /// come after 8 trials then, and the fifth such look in a row begins a new epoch with these as its own. What is not known is not compared.
  State observe(const measure::References& now, double now_s);
  /// What the last new epoch changed, in words.
  const std::string& change() const { return change_; }

 private:
  measure::References epoch_;
  bool begun_ = false;
  int off_ = 0;
  int64_t trials_ = 0;
  double looked_s_ = 0;
  std::string change_;
};

}  // namespace tw::tune
