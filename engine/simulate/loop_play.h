// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/simulate/cache_model.h"
#include "engine/tir/access_trace.h"

namespace tw::simulate {

/// What the accesses of one statement to one array came to.
struct PlayCounts {
  int64_t loads = 0, stores = 0;  ///< of elements
  int64_t lookups = 0;            ///< lines that caches were asked for: each once a step and access, however many lanes it serves
  std::vector<int64_t> held;      ///< of them, found in each level; the last is memory
  // Of a GPU's warps.
  int64_t warp_accesses = 0;  ///< to memory or to shared memory
  int64_t sectors = 0;        ///< of memory
  int64_t wavefronts = 0;     ///< of shared memory

  PlayCounts& operator+=(const PlayCounts& o);
  int64_t elements() const { return loads + stores; }
  double hit_share(size_t level) const;  ///< of the lookups that reach it
};

/// Where an array is while loops are played.
struct PlayArray {
  enum class Home : uint8_t { memory, shared, registers } home = Home::memory;
  int64_t address = 0;                ///< of its first element, of those in memory
  std::vector<uint32_t> first_touch;  ///< the step that first reads or writes each element; UINT32_MAX: none does
};

/// What an access of the current step came to.
struct PlayedAccess {
  int level = -1;                  ///< the furthest that one of its lines came from; -1: registers or shared memory
  int lines = 0;                   ///< that caches were asked for
  int sectors = 0, wavefronts = 0;  ///< of a warp
};

/// A trace with caches under it: what every step finds there. A value that does not change; cursors go through it.
/// Arrays in memory follow each other there, each from a line's begin. Arrays of a thread of a GPU are in registers, local ones of a processor where
/// they fit there all together (else the largest stay in memory), and caches do not see them.
class LoopPlay {
 public:
  /// Errors: cancelled; resource_limit for more than 2^32 steps.
  static Expected<std::shared_ptr<const LoopPlay>> make(tir::AccessTrace trace, const Target& target, std::vector<CacheLevel> levels, StopToken stop = {});

  const tir::AccessTrace& trace() const { return trace_; }
  const std::vector<CacheLevel>& levels() const { return levels_; }
  const std::vector<PlayArray>& arrays() const { return arrays_; }
  size_t size() const { return trace_.size(); }
  /// Of all steps, by statement and then array.
  const std::vector<PlayCounts>& totals() const { return totals_; }
  size_t index(int statement, int array) const { return static_cast<size_t>(statement) * arrays_.size() + static_cast<size_t>(array); }
  /// The sum over the statements inside a loop (-1: over all) of what one array saw (-1: all arrays).
  PlayCounts sum(const std::vector<PlayCounts>& counts, int loop, int array) const;
  /// The array that holds the byte, and which element of it; -1 for none.
  std::pair<int, int64_t> element_at(int64_t address) const;
  /// The first step after the loop around step `at` is over, with all its turns; the next step where `at` is not in it.
  size_t after_loop(size_t at, int loop) const;

 private:
  friend class LoopCursor;
  struct Moment {
    CacheModel caches;
    std::vector<PlayCounts> counts;
  };
  LoopPlay(tir::AccessTrace trace, const Target& target, std::vector<CacheLevel> levels);
  /// Step `at` happens; what each of its accesses came to goes to `played` where that is asked for.
  void play(size_t at, Moment& moment, std::vector<PlayedAccess>* played) const;

  tir::AccessTrace trace_;
  std::vector<CacheLevel> levels_;
  std::vector<PlayArray> arrays_;
  size_t every_ = 1;             ///< steps between two kept moments
  std::vector<Moment> moments_;  ///< that are kept, the first one before anything has happened
  std::vector<PlayCounts> totals_;
};

/// A place in a play: any step is reached from the nearest moment that is kept, some thousand steps away.
class LoopCursor {
 public:
  explicit LoopCursor(std::shared_ptr<const LoopPlay> play);

  const LoopPlay& play() const { return *play_; }
  /// Steps that have happened, 0 to play().size().
  size_t at() const { return at_; }
  void seek(size_t steps);
  const CacheModel& caches() const { return now_.caches; }
  /// So far, as LoopPlay::totals().
  const std::vector<PlayCounts>& counts() const { return now_.counts; }
  /// Of the last step that has happened, one for each of its accesses.
  const std::vector<PlayedAccess>& played() const { return played_; }

 private:
  std::shared_ptr<const LoopPlay> play_;
  size_t at_ = 0;
  LoopPlay::Moment now_;
  std::vector<PlayedAccess> played_;
};

}  // namespace tw::simulate
