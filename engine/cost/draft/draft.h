// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/cost/features/features.h"
#include "engine/target/target.h"

/// Draft models: what a candidate costs by formulas over its symbols, tens of thousands of times a second, without lowering and without measuring. They know
/// nothing of `simulate`, so that what a search drafts with is not what judges it.
namespace tw::cost {

/// What Pruner's analyzer knows of an array that is written, all in elements. Source: Qiao et al., "Pruner" (arXiv 2402.02361), in the numbers of its release.
struct Symbols {
  double thread_operations = 0;  ///< of floats, of one thread: additions, products, divisions
  double operations = 0;         ///< of all threads
  double registers = 0;          ///< elements that a thread touches in the loops that move the array; 0 without operations
  double touched = 0;            ///< elements that a thread touches in all loops, summed over what computes the array; 0 without operations
  double shared = 0;             ///< elements that a block copies into shared memory
  double moved = 0;              ///< elements that pass global memory, of arrays that are copied; 0 with operations
  double reuse = 1;              ///< 1 + operations of a thread over what it touches
  double is_gpu = 0;
  double grid = 1, block = 1, vthread = 1;
};
inline constexpr size_t kSymbols = 11;

/// Of each stage that stores, in the stages' order.
std::vector<Symbols> symbols_of(const space::Program& program, const space::Evaluated& e);

/// A GPU as the release knows it.
struct DraftDevice {
  const char* name;
  double gflops;     ///< peak of float32
  double gigabytes;  ///< of memory a second
  int multiprocessors;
  int blocks = 1;      ///< on one multiprocessor at a time
  int schedulers = 4;  ///< of one multiprocessor
  int warp = 32;
  double registers = 128;  ///< elements above which a thread is slowed down
};
std::span<const DraftDevice> draft_devices();
const DraftDevice* find_draft_device(std::string_view name);
/// Milliseconds by the formula of the release: full waves, full warps, registers, reuse; time of computing and of copying adds up over the arrays.
double draft_ms(std::span<const Symbols> symbols, const DraftDevice& device);

/// Seconds of a statement by our own formula.
struct DraftTime {
  double arithmetic_s = 0, memory_s = 0;
};
/// What the release's formula lacks: bytes, traffic of statements that compute, coalescing, what shared memory and registers leave of the warps that hide latency,
/// tensor cores. By stage that stores; arithmetic_s is infinite where a block does not fit.
std::vector<DraftTime> gpu_draft(const space::Program& program, const space::Evaluated& e, const Target& target);
/// For processors, which the release has none for: whole vectors, register tiles, loads a multiply-add, traffic of each cache level, waves of threads.
std::vector<DraftTime> cpu_draft(const space::Program& program, const space::Evaluated& e, const Target& target);

/// A row for each stage that stores: its symbols, then both times of our formula.
inline constexpr size_t kDraftColumns = kSymbols + 2;
/// One over the seconds of all rows; by the release's formula for a device, by our own without. 0 for what does not fit.
float draft_score(std::span<const float> rows, const DraftDevice* device);
Expected<FeatureRows> symbol_features(const FeatureInput& input);
FeatureRows symbol_program(const space::Program& program, const space::Evaluated& e, const Target& target);

}  // namespace tw::cost
