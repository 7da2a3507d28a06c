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

/// One launch of a kernel on a GPU that is a formula. Times in seconds.
struct WhyLaunch {
  qint64 blocks = 0, threads = 0;           ///< of the grid; of a block
  int registers = 0, spilledRegisters = 0;  ///< of a thread
  bool compiled = false;                    ///< the registers are the compiler's, else an estimate
  qint64 sharedBytes = 0;                   ///< of a block
  int residentBlocks = 0;                   ///< on a multiprocessor at once
  double occupancy = 0;                     ///< part of a multiprocessor's warps
  QString limit;                            ///< what allows no more of them
  double waves = 0;                         ///< rounds of blocks
  double seconds = 0;
  std::vector<std::pair<QString, double>> parts;
  QString limiter;  ///< the part that takes longest
};

/// What the processor counted in one call, on one thread; 0: not counted.
struct WhyCounts {
  double cycles = 0, instructions = 0, l1Misses = 0, llcMisses = 0, branchMisses = 0;
  QString missing;  ///< why something was not counted, one sentence
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
  std::vector<WhyLaunch> launches;  ///< on a GPU, in place of lanes and loops
  WhyCounts counts;
  std::vector<std::pair<QString, double>> lines;  ///< of the loops after all passes, with their parts of the time, without what stands inside them
  QString linesSource;                            ///< what says so, one sentence
};

/// A sentence about the kernel, and the formula behind its numbers.
struct WhyRule {
  enum class Kind { good, neutral, bad };
  Kind kind = Kind::neutral;
  QString sentence, formula;
};
/// Only what follows from the facts at hand.
std::vector<WhyRule> whyRules(const WhyFacts& facts);

/// Those lines of a text that take most of the time, descending: three at most, and none below a twentieth. `shares`: by line, negative where not known.
std::vector<std::pair<QString, double>> slowestLines(const QString& text, const std::vector<double>& shares);

/// Widest vector register that multiply-adds of a listing use, in bits: 512 for zmm, 256 for ymm, 128 for xmm; 0 if there is none.
int usedVectorBits(const std::string& assembly);

}  // namespace tw::widgets
