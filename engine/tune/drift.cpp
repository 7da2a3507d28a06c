// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/drift.h"

#include <cmath>

#include "engine/base/text.h"

namespace tw::tune {
namespace {

constexpr int64_t kTrials = 20, kTrialsInDoubt = 8;
constexpr double kSeconds = 10, kCompute = 0.03, kMemory = 0.15;
constexpr int kCertain = 5;

/// Relative change; 0 if either side is not known.
double change_of(double before, double now) { return before > 0 && now > 0 ? now / before - 1 : 0; }

}  // namespace

bool DriftGate::due(int64_t trials, double now_s) {
  trials_ += trials;
  return !begun_ || trials_ >= (off_ > 0 ? kTrialsInDoubt : kTrials) || now_s - looked_s_ >= kSeconds;
}

DriftGate::State DriftGate::observe(const measure::References& now, double now_s) {
  trials_ = 0;
  looked_s_ = now_s;
  if (!begun_) {
    begun_ = true;
    epoch_ = now;
    return State::steady;
  }
  const double compute = change_of(epoch_.flop_per_s, now.flop_per_s), memory = change_of(epoch_.bytes_per_s, now.bytes_per_s);
  if (std::abs(compute) <= kCompute && std::abs(memory) <= kMemory) {
    off_ = 0;
    return State::steady;
  }
  if (++off_ < kCertain) return State::doubtful;
  off_ = 0;
  epoch_ = now;
  change_ = fmt::format("arithmetic {:+.0f} %, memory {:+.0f} %", compute * 100, memory * 100);
  return State::new_epoch;
}

}  // namespace tw::tune
