// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/contest.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "engine/measure/core_latency.h"

namespace tw::cli::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kStep = 1.8;

}  // namespace

double median_call_s(const std::function<void()>& call, double sample_s) {
  call();  // after a pause it takes up to three times as long, as if a cache that others share had lost the weights
  std::vector<double> seconds;
  const auto end = Clock::now() + std::chrono::duration<double>(sample_s);
  Clock::time_point now;
  do {
    const auto start = Clock::now();
    call();
    now = Clock::now();
    seconds.push_back(std::chrono::duration<double>(now - start).count());
  } while (now < end);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

Expected<std::vector<Sample>> sample_by_turns(const std::vector<Contender>& contenders, int rounds, int threads, const std::vector<int>& processors,
                                              StopToken stop) {
  const bool probed = threads > 1 && processors.size() > 1;
  const auto latency = [&] { return probed ? measure::core_latency_s(processors[0], processors[1]) : 0.0; };
  std::vector<Sample> samples;
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
      if (threads > 1) std::this_thread::sleep_for(contenders[(i + contenders.size() - 1) % contenders.size()].rest);
      Sample s{i};
      s.latency_before_s = latency();
      TW_TRY(s.seconds, contenders[i].sample());
      s.latency_after_s = latency();
      if (round > 0) samples.push_back(s);
    }
  }
  return samples;
}

States::States(const std::vector<Sample>& samples) {
  std::vector<double> seen;
  for (const Sample& s : samples) seen.insert(seen.end(), {s.latency_before_s, s.latency_after_s});
  std::sort(seen.begin(), seen.end());
  for (const double s : seen) {
    if (ranges_.empty() || s > ranges_.back().first * kStep) ranges_.emplace_back(s, s);
    ranges_.back().second = s;
  }
}

int States::of(const Sample& s) const {
  const auto find = [&](double seconds) {
    for (int i = 0; i < count(); ++i)
      if (seconds <= ranges_[static_cast<size_t>(i)].second) return i;
    return -1;
  };
  const int before = find(s.latency_before_s);
  return before == find(s.latency_after_s) ? before : -1;
}

Standing standing_of(const std::vector<Sample>& samples, size_t contenders, const States& states) {
  std::vector<std::vector<int>> counts(static_cast<size_t>(states.count()), std::vector<int>(contenders, 0));
  for (const Sample& s : samples)
    if (const int state = states.of(s); state >= 0) ++counts[static_cast<size_t>(state)][s.contender];
  Standing standing;
  standing.best_s.assign(contenders, std::numeric_limits<double>::infinity());
  standing.median_s = standing.best_s;
  int most = 0;
  for (int state = 0; state < states.count(); ++state) {
    const auto& of_state = counts[static_cast<size_t>(state)];
    const int fewest = *std::min_element(of_state.begin(), of_state.end());
    if (fewest > most) {
      most = fewest;
      standing.state = state;
    }
  }
  if (standing.state < 0) return standing;
  std::vector<std::vector<double>> seconds(contenders);
  for (const Sample& s : samples)
    if (states.of(s) == standing.state) seconds[s.contender].push_back(s.seconds);
  for (size_t i = 0; i < contenders; ++i) {
    std::sort(seconds[i].begin(), seconds[i].end());
    standing.best_s[i] = seconds[i].front();
    standing.median_s[i] = seconds[i][seconds[i].size() / 2];
  }
  return standing;
}

}  // namespace tw::cli::bench
