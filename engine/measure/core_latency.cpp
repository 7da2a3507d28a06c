// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/core_latency.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

namespace tw::measure {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kExchanges = 12, kRoundTrips = 20;
constexpr auto kLongest = std::chrono::milliseconds(10);

bool bind_self(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// Odd numbers go from the first thread to the second, which answers with the next even one; a negative one ends it.
struct alignas(128) Word {
  std::atomic<int> value{0};
};

void answer_on(Word& word) {
  for (int v = 0; v >= 0;) {
    v = word.value.load(std::memory_order_acquire);
    if (v % 2 == 1) word.value.store(v + 1, std::memory_order_release);
  }
}

}  // namespace

double core_latency_s(int a, int b) {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0 || !bind_self(a)) return 0;
  Word word;
  std::atomic<int> bound{0};  // 1: the other thread is on its processor, -1: refused
  std::thread other([&] {
    const bool on = bind_self(b);
    bound.store(on ? 1 : -1, std::memory_order_release);
    if (on) answer_on(word);
  });
  while (bound.load(std::memory_order_acquire) == 0) std::this_thread::yield();
  double best = std::numeric_limits<double>::infinity();
  const bool on = bound.load(std::memory_order_acquire) > 0;
  const auto begin = Clock::now();
  // Where other programs take the processors, the exchanges that are done must do.
  for (int k = 0, i = 1; on && k < kExchanges && (k == 0 || Clock::now() - begin < kLongest); ++k) {
    const auto start = Clock::now();
    for (const int end = i + 2 * kRoundTrips; i < end; i += 2) {
      word.value.store(i, std::memory_order_release);
      while (word.value.load(std::memory_order_acquire) != i + 1) {
      }
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / (2 * kRoundTrips));
  }
  word.value.store(-1, std::memory_order_release);
  other.join();
  sched_setaffinity(0, sizeof before, &before);
  return on ? best : 0;
}

}  // namespace tw::measure
