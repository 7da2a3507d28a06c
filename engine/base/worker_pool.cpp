// SPDX-License-Identifier: Apache-2.0
#include "engine/base/worker_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/base/assert.h"

namespace tw {

struct WorkerPool::Impl {
  // What is to be done; written while all threads rest.
  const std::function<void(size_t)>* task = nullptr;
  const StopToken* stop = nullptr;
  size_t count = 0;
  std::atomic<size_t> next{0};  ///< the first task that nobody has taken
  std::atomic<bool> failed{false};

  std::mutex mutex;
  std::condition_variable begin, end;
  uint64_t round = 0;  ///< counts run()s, which is what threads wait for
  bool open = false;   ///< threads may join this round; those that wake up too late do not
  size_t joined = 0;   ///< threads that are at work in it
  bool closing = false;
  size_t first_failure = 0;
  std::exception_ptr failure;

  std::vector<std::thread> workers;

  void work() {
    while (!failed.load(std::memory_order_relaxed)) {
      if (stop->stop_requested()) return;
      const size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        (*task)(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure || i < first_failure) {
          failure = std::current_exception();
          first_failure = i;
        }
        failed = true;
      }
    }
  }

  void serve() {
    for (uint64_t seen = 0;;) {
      {
        std::unique_lock lock(mutex);
        begin.wait(lock, [&] { return closing || (open && round != seen); });
        if (closing) return;
        seen = round;
        ++joined;
      }
      work();
      const std::lock_guard lock(mutex);
      if (--joined == 0) end.notify_one();
    }
  }
};

WorkerPool::WorkerPool(int threads) : impl_(std::make_unique<Impl>()) {
  TW_ASSERT(threads >= 1, "a pool has the caller's thread at least");
  for (int t = 1; t < threads; ++t) impl_->workers.emplace_back([this] { impl_->serve(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
  }
  impl_->begin.notify_all();
  for (std::thread& w : impl_->workers) w.join();
}

int WorkerPool::threads() const { return static_cast<int>(impl_->workers.size()) + 1; }

bool WorkerPool::run(size_t count, const std::function<void(size_t)>& task, const StopToken& stop) {
  Impl& p = *impl_;
  {
    const std::lock_guard lock(p.mutex);
    TW_ASSERT(p.task == nullptr, "one user at a time, and no task that uses its own pool");
    p.task = &task;
    p.stop = &stop;
    p.count = count;
    p.next = 0;
    p.failed = false;
    p.open = true;
    ++p.round;
  }
  p.begin.notify_all();
  p.work();
  std::unique_lock lock(p.mutex);
  p.open = false;
  p.end.wait(lock, [&] { return p.joined == 0; });
  p.task = nullptr;
  if (p.failure) std::rethrow_exception(std::exchange(p.failure, nullptr));
  return p.next >= count;
}

}  // namespace tw
