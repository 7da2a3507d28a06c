// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/access.h"

#include <algorithm>

namespace tw::simulate {

namespace {

constexpr int kWord = 4, kBanks = 32, kLine = 128;
/// Words of a warp, each thread at most four.
constexpr size_t kMostWords = static_cast<size_t>(target::kWarp) * 8;

/// The different units of `unit` bytes that some threads touch.
struct Touched {
  std::array<int64_t, kMostWords> units;
  size_t count = 0;

  Touched(const WarpAccess& a, int first, int last, int unit) {
    for (int lane = first; lane < last; ++lane) {
      if (!(a.active >> lane & 1)) continue;
      const int64_t from = a.at[static_cast<size_t>(lane)] / unit, to = (a.at[static_cast<size_t>(lane)] + a.bytes - 1) / unit;
      for (int64_t u = from; u <= to && count < kMostWords; ++u) units[count++] = u;
    }
    std::sort(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(count));
    count = static_cast<size_t>(std::unique(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(count)) - units.begin());
  }
};

}  // namespace

int sectors(const WarpAccess& access) { return static_cast<int>(Touched(access, 0, target::kWarp, kSector).count); }

int lines(const WarpAccess& access) { return static_cast<int>(Touched(access, 0, target::kWarp, kLine).count); }

int wavefronts(const WarpAccess& access) {
  const int group = access.bytes > 8 ? target::kWarp / 4 : access.bytes > 4 ? target::kWarp / 2 : target::kWarp;
  int total = 0;
  for (int first = 0; first < target::kWarp; first += group) {
    const Touched words(access, first, first + group, kWord);
    std::array<int, kBanks> load{};
    int most = 0;
    for (size_t i = 0; i < words.count; ++i) most = std::max(most, ++load[static_cast<size_t>(words.units[i] % kBanks)]);
    total += most;
  }
  return total;
}

}  // namespace tw::simulate
