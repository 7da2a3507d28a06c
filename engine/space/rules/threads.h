// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engine/space/rules/members.h"
#include "engine/space/rules/rules.h"

/// Kernels for GPUs by rule: rows whose threads reduce them together, a thread for each result, vectors of elements, and transposes through shared memory.
/// Sources: one warp for rows up to 1024 elements and values exchanged by shuffles after Luitjens, Faster parallel reductions on Kepler, NVIDIA 2014; tiles of
/// 32 x 33 after Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, NVIDIA 2009.
namespace tw::space::rules {

/// What the rules leave to choose; 0, or -1, for what they choose themselves.
struct ThreadChoices {
  int64_t threads = 0;      ///< of a block whose threads work by themselves
  int64_t vector = 0;       ///< neighbouring elements that a thread computes at once
  int64_t row_threads = 0;  ///< that share a row
  int64_t rows = 0;         ///< of a block whose threads share rows
  int64_t tile_rows = 0;    ///< rows of threads in a tile of a transpose
  int keep = -1;            ///< 1: what several stages read is kept in shared memory; 0: computed again for each
  int window = -1;          ///< 1: loops of short reductions are written out
};

/// Reductions up to this length may be written out.
inline constexpr int64_t kLargestWindow = 49;

/// A kernel of several stages, or a reduction, that threads compute row by row.
struct RowsOnThreads {
  Members members;
  bool together = false;   ///< threads share the reductions of a row; otherwise each has rows of its own
  bool product = false;    ///< some reduction reads elements for several results
  bool window = false;     ///< some reduction may be written out
  int64_t count = 1;       ///< rows
  int64_t neighbours = 1;  ///< rows that differ in the last axis in common only
  int64_t length = 1;      ///< of the longest reduction
  int64_t kept_bytes = 0;  ///< of a row in arrays that several stages read
};
std::optional<RowsOnThreads> rows_on_threads(const schedule::Builder& b, const Target& target);

/// Axes from `first` on are one run in memory, everywhere; so many neighbours may be computed at once, a power of two.
struct ElementVectors {
  size_t first = 0;
  int64_t longest = 1;
};
ElementVectors element_vectors(const schedule::Builder& b, int stage);

/// An array that the output of a dag reads across: neighbours of the result along its last axis lie along dimension `column_dim` of the source, neighbours in
/// memory along axis `row_axis` of the result.
struct Crossing {
  std::string source;
  int row_axis = -1;
  size_t column_dim = 0;
};
std::optional<Crossing> find_crossing(const te::Dag& dag);

/// A builder in which stages that a GPU computes inside their readers are inlined.
schedule::Builder start_on_threads(const te::DagPtr& dag, const std::optional<Crossing>& crossing);

/// Schedules what start_on_threads left.
void schedule_by_threads(schedule::Builder& b, const Target& target, const std::optional<Crossing>& crossing, const ThreadChoices& how);

}  // namespace tw::space::rules
