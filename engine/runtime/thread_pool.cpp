// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/thread_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <thread>
#include <vector>

#include "engine/base/assert.h"
#include "engine/runtime/flush_denormals.h"
#include "engine/runtime/workspace.h"
#include "engine/target/host.h"

namespace tw::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpinTime = std::chrono::milliseconds(2);
constexpr auto kYieldAfter = std::chrono::milliseconds(1);
constexpr int kPausesPerClockRead = 64;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0); }
void futex_wake_all(std::atomic<uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

/// The processors that the calling thread may use, and how many pools have narrowed them since.
struct CallerMask {
  int pools = 0;
  cpu_set_t original;
};
thread_local CallerMask caller_mask;

std::vector<int> allowed_processors() {
  cpu_set_t set;
  if (caller_mask.pools > 0) {
    set = caller_mask.original;
  } else if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return {};
  }
  std::vector<int> out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) out.push_back(i);
  }
  return out;
}

/// Of the calling thread, as the system knows it: in a process that was cloned without the C library, pthread_self() still bears the parent's number.
void set_own_processors(const cpu_set_t& set) { sched_setaffinity(0, sizeof set, &set); }  // a refusal costs speed, not correctness

void pin_self(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  set_own_processors(set);
}

}  // namespace

struct alignas(128) ThreadPool::Impl {
  /// What a worker last finished, on a line of its own so that workers do not disturb each other.
  struct alignas(128) Done {
    std::atomic<uint32_t> sequence{0};
  };

  // Written by the caller before each publication.
  int64_t n = 0;
  void (*body)(void*, int64_t, int64_t) = nullptr;
  void* closure = nullptr;
  bool stopping = false;
  int64_t wakes = 0;

  alignas(128) std::atomic<uint32_t> sequence{0};  ///< counts regions; workers wait for it to change
  alignas(128) std::atomic<int> sleepers{0};
  alignas(128) std::atomic<bool> busy{false};  ///< a region is running: further ones run serially
  std::atomic<int> hot{0};                     ///< while positive, workers spin without limit

  int threads = 1;
  std::vector<Done> done;
  std::vector<std::thread> workers;
  RuntimeApi api{};
  bool pinned_caller = false;
  std::thread::id caller;

  void work(int t) {
    const int64_t begin = n * t / threads, end = n * (t + 1) / threads;
    if (begin < end) body(closure, begin, end);
  }

  /// Waits until `sequence` is not `seen`, spinning first.
  void await(uint32_t seen) {
    auto deadline = Clock::now() + kSpinTime;
    for (;;) {
      for (int i = 0; i < kPausesPerClockRead; ++i) {
        if (sequence.load(std::memory_order_acquire) != seen) return;
        pause();
      }
      const auto now = Clock::now();
      if (hot.load(std::memory_order_relaxed) > 0) deadline = now + kSpinTime;
      if (now < deadline) continue;
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      futex_wait(sequence, seen);  // returns at once if it changed meanwhile
      sleepers.fetch_sub(1, std::memory_order_relaxed);
      if (sequence.load(std::memory_order_acquire) != seen) return;
      deadline = Clock::now() + kSpinTime;
    }
  }

  void worker_loop(int t, int processor) {
    if (processor >= 0) pin_self(processor);
    const FlushDenormals flush;
    uint32_t seen = 0;
    for (;;) {
      await(seen);
      seen = sequence.load(std::memory_order_acquire);
      if (stopping) return;
      work(t);
      done[t].sequence.store(seen, std::memory_order_release);
    }
  }

  void publish() {
    sequence.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) == 0) return;
    ++wakes;
    futex_wake_all(sequence);
  }

  void wait_for_worker(int t, uint32_t target) {
    Clock::time_point start{};
    for (int i = 0;; ++i) {
      if (done[t].sequence.load(std::memory_order_acquire) == target) return;
      pause();
      if (i % kPausesPerClockRead != kPausesPerClockRead - 1) continue;
      const auto now = Clock::now();
      if (start == Clock::time_point{}) start = now;
      if (now - start > kYieldAfter) sched_yield();  // the worker may want this processor
    }
  }

  static void parallel_for(void* ctx, int64_t n, void (*body)(void*, int64_t, int64_t), void* closure) {
    if (n <= 0) return;
    auto& self = *static_cast<Impl*>(ctx);
    if (self.threads == 1 || n == 1 || self.busy.exchange(true, std::memory_order_acquire)) return body(closure, 0, n);
    self.n = n;
    self.body = body;
    self.closure = closure;
    self.publish();
    const uint32_t target = self.sequence.load(std::memory_order_relaxed);
    self.work(0);
    for (int t = 1; t < self.threads; ++t) self.wait_for_worker(t, target);
    self.busy.store(false, std::memory_order_release);
  }
};

ThreadPool::ThreadPool(int threads, bool pin) : impl_(std::make_unique<Impl>()) {
  TW_ASSERT(threads >= 1, "a pool has at least one thread");
  Impl& self = *impl_;
  self.threads = threads;
  self.done = std::vector<Impl::Done>(static_cast<size_t>(threads));
  self.api = {&self, &Impl::parallel_for, &workspace_alloc, &workspace_free};
  const std::vector<int> processors = allowed_processors();
  const bool can_pin = pin && static_cast<int>(processors.size()) >= threads;
  if (can_pin) {
    if (caller_mask.pools++ == 0) sched_getaffinity(0, sizeof caller_mask.original, &caller_mask.original);
    pin_self(processors[0]);
    self.pinned_caller = true;
    self.caller = std::this_thread::get_id();
  }
  for (int t = 1; t < threads; ++t) {
    self.workers.emplace_back([&self, t, processor = can_pin ? processors[t] : -1] { self.worker_loop(t, processor); });
  }
}

ThreadPool::~ThreadPool() {
  impl_->stopping = true;
  impl_->publish();
  for (std::thread& worker : impl_->workers) worker.join();
  if (impl_->pinned_caller && impl_->caller == std::this_thread::get_id() && --caller_mask.pools == 0) {
    set_own_processors(caller_mask.original);
  }
}

int ThreadPool::with_processors(int wanted) {
  const int allowed = static_cast<int>(allowed_processors().size());  // target::host_cores() would count those of a thread that a pool has narrowed
  const int possible = allowed == 0 ? wanted : std::min(allowed, target::host_quota().value_or(allowed));
  return std::clamp(wanted, 1, possible);
}

int ThreadPool::threads() const { return impl_->threads; }
int64_t ThreadPool::wakes() const { return impl_->wakes; }
const RuntimeApi* ThreadPool::api() const { return &impl_->api; }

ThreadPool::Hot::Hot(ThreadPool& pool) : pool_(pool) { pool_.impl_->hot.fetch_add(1, std::memory_order_relaxed); }
ThreadPool::Hot::~Hot() { pool_.impl_->hot.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace tw::runtime
