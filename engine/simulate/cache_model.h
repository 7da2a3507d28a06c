// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/target/target.h"

namespace tw::simulate {

/// One cache: sets of `ways` lines of `line` bytes each.
struct CacheLevel {
  std::string name;
  int64_t bytes = 0;
  int ways = 1;
  int line = 64;

  int64_t sets() const;  ///< at least one
};

/// Ways of caches of which a target does not say how many they have.
inline constexpr int kUnknownWays = 8;

/// The caches of one core, or of one multiprocessor with its whole level-1 memory as a cache, each `smaller` times smaller in sets. Ways are the target's where it
/// says them.
std::vector<CacheLevel> cache_levels(const Target& target, int smaller = 1);

/// Caches that hold what was used last: a line that is looked up is fetched into every level that lacks it, and takes the place of the line of its set that was
/// used longest ago. Writes are looked up as reads are. A value: a copy goes on by itself.
/// Source: Mattson et al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9 (2), 1970, for the order of use.
class CacheModel {
 public:
  explicit CacheModel(std::vector<CacheLevel> levels);

  const std::vector<CacheLevel>& levels() const { return levels_; }
  /// Looks the byte's line up. The first level that holds it; levels().size() if none did.
  int access(int64_t address);
  /// Lines of a level by number (address over bytes of a line): those of its first set, last used first, then of the next; -1 where there is none.
  std::span<const int64_t> lines(size_t level) const { return lines_[level]; }
  /// Lines that had to make room so far.
  int64_t evictions(size_t level) const { return evictions_[level]; }

 private:
  std::vector<CacheLevel> levels_;
  std::vector<std::vector<int64_t>> lines_;
  std::vector<int64_t> evictions_;
};

}  // namespace tw::simulate
