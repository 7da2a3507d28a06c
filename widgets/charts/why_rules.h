// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

#include "engine/target/target.h"

namespace tw::widgets {

/// One loop of a kernel's nest, from outside inwards.
struct WhyLoop {
  QString name;
  bool parallel = false, vector = false;
  double extent = 0, runs = 1, bytes = 0;
};

/// What is known of one kernel.
struct WhyFacts {
  double seconds = 0;  ///< 0: not measured
  double flops = 0, compulsoryBytes = 0, vectorLanes = 1;
  std::vector<WhyLoop> loops;
  int usedVectorBits = 0;  ///< widest register in its multiply-adds, 0 if the code is not known
  // The machine.
  double peak = 0;  ///< FLOP/s of all cores, 0: not measured
  double memoryBytesPerS = 0;
  Target target;
};

/// A sentence about the kernel, and the formula behind its numbers.
struct WhyRule {
  enum class Kind { good, neutral, bad };
  Kind kind = Kind::neutral;
  QString sentence, formula;
};
/// Only what follows from the facts at hand.
std::vector<WhyRule> whyRules(const WhyFacts& facts);

/// Widest vector register that multiply-adds of a listing use, in bits: 512 for zmm, 256 for ymm, 128 for xmm; 0 if there is none.
int usedVectorBits(const std::string& assembly);

}  // namespace tw::widgets
