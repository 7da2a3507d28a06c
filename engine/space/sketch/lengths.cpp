// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/lengths.h"

#include <algorithm>

#include "engine/space/knobs/split.h"

namespace tw::space {

std::vector<int64_t> random_lengths(int64_t extent, size_t count, int64_t max_innermost, Rng& rng) {
  const std::vector<int64_t> all = divisors(extent);
  const auto place = [&](int64_t d) { return static_cast<size_t>(std::lower_bound(all.begin(), all.end(), d) - all.begin()); };
  // lists[k][i]: lists of k lengths whose product divides divisor i.
  std::vector<std::vector<uint64_t>> lists(count + 1, std::vector<uint64_t>(all.size(), 1));
  for (size_t k = 1; k <= count; ++k)
    for (size_t i = 0; i < all.size(); ++i) {
      uint64_t sum = 0;
      for (size_t j = 0; j <= i; ++j)
        if (all[i] % all[j] == 0 && (k > 1 || all[j] <= max_innermost)) sum += k == 1 ? 1 : lists[k - 1][place(all[i] / all[j])];
      lists[k][i] = sum;
    }
  std::vector<int64_t> out;
  int64_t rest = extent;
  for (size_t k = count; k > 0; --k) {
    uint64_t left = rng.uniform(lists[k][place(rest)]);
    for (const int64_t d : all) {
      if (d > rest || rest % d != 0 || (k == 1 && d > max_innermost)) continue;
      const uint64_t with = k == 1 ? 1 : lists[k - 1][place(rest / d)];
      if (left < with) {
        out.push_back(d);
        rest /= d;
        break;
      }
      left -= with;
    }
  }
  return out;
}

std::vector<int64_t> random_uneven_lengths(int64_t extent, size_t count, int64_t max_innermost, Rng& rng) {
  std::vector<int64_t> rounded;
  for (int64_t power = 2; power <= 64; power *= 2) {
    const int64_t up = (extent + power - 1) / power * power;
    if (up - extent <= up / 4) rounded.push_back(up);
  }
  if (rounded.empty()) return random_lengths(extent, count, max_innermost, rng);
  const int64_t up = rounded[rng.uniform(rounded.size())];
  std::vector<int64_t> lengths = random_lengths(up, count, max_innermost, rng);
  int64_t product = 1;
  for (const int64_t l : lengths) product *= l;
  const int64_t covered = (extent + product - 1) / product * product;
  return covered - extent <= covered / 4 ? lengths : random_lengths(extent, count, max_innermost, rng);
}

}  // namespace tw::space
