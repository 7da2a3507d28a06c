// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/network_data.h"

#include <algorithm>
#include <cmath>

namespace tw::widgets {

double networkX(const records::Round& round, NetworkX x) {
  switch (x) {
    case NetworkX::elapsed:
      return round.elapsed_s;
    case NetworkX::measured:
      return round.measured_s;
    case NetworkX::trials:
      break;
  }
  return static_cast<double>(round.session_trials);
}

std::vector<NetworkPoint> networkCurve(const std::vector<records::Round>& rounds, NetworkX x) {
  std::vector<NetworkPoint> points;
  int last = -1;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const records::Round& r = rounds[i];
    if (!std::isfinite(r.network_s)) continue;
    last = static_cast<int>(i);
    if (points.empty() || r.network_s != points.back().seconds) points.push_back({networkX(r, x), r.network_s, last});
  }
  if (!points.empty() && points.back().round != last) points.push_back({networkX(rounds[static_cast<size_t>(last)], x), points.back().seconds, last});
  return points;
}

const records::Round* firstWithin(const std::vector<records::Round>& rounds, double target) {
  const auto found = std::find_if(rounds.begin(), rounds.end(), [&](const records::Round& r) { return r.network_s <= target; });
  return found == rounds.end() ? nullptr : &*found;
}

void putRounds(std::vector<records::Round>& known, const std::vector<records::Round>& news) {
  for (const records::Round& r : news) {
    const auto at = std::lower_bound(known.begin(), known.end(), r.number, [](const records::Round& k, int64_t number) { return k.number < number; });
    if (at != known.end() && at->number == r.number)
      *at = r;
    else
      known.insert(at, r);
  }
}

}  // namespace tw::widgets
