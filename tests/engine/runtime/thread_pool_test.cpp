// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/thread_pool.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using tw::runtime::RuntimeApi;
using tw::runtime::ThreadPool;

namespace {

struct Counts {
  std::vector<std::atomic<int>> hits;
  explicit Counts(size_t n) : hits(n) {}
};

void hit(void* closure, int64_t begin, int64_t end) {
  auto& counts = *static_cast<Counts*>(closure);
  for (int64_t i = begin; i < end; ++i) counts.hits[i].fetch_add(1);
}

bool all_once(const Counts& counts) {
  for (const auto& h : counts.hits) {
    if (h.load() != 1) return false;
  }
  return true;
}

}  // namespace

class ThreadPoolTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void covers_every_index_once() {
    for (const int threads : {1, 2, 3, 5}) {
      ThreadPool pool(threads);
      for (const int n : {0, 1, 2, 3, 7, 64, 1000}) {
        Counts counts(static_cast<size_t>(n));
        pool.api()->parallel_for(pool.api()->ctx, n, &hit, &counts);
        QVERIFY2(all_once(counts), qPrintable(QString("%1 threads, %2 items").arg(threads).arg(n)));
      }
    }
  }

  /// A thread without a processor would spin where another wants to run.
  void threads_that_have_processors() {
    cpu_set_t before, one;
    QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
    const int all = ThreadPool::with_processors(1 << 20);
    QVERIFY(all >= 1 && all <= CPU_COUNT(&before));
    QCOMPARE(ThreadPool::with_processors(1), 1);
    {
      const ThreadPool pinned(all);  // this thread has one processor now, and the pool had the others to give
      QCOMPARE(ThreadPool::with_processors(all + 1), all);
    }
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    QCOMPARE(sched_setaffinity(0, sizeof one, &one), 0);
    QCOMPARE(ThreadPool::with_processors(4), 1);
    QCOMPARE(sched_setaffinity(0, sizeof before, &before), 0);
  }

  void many_short_regions() {
    ThreadPool pool(2);
    std::atomic<int64_t> sum{0};
    const auto add = [](void* closure, int64_t begin, int64_t end) { static_cast<std::atomic<int64_t>*>(closure)->fetch_add(end - begin); };
    for (int i = 0; i < 4000; ++i) pool.api()->parallel_for(pool.api()->ctx, 10, add, &sum);
    QCOMPARE(sum.load(), int64_t{40000});
  }

  void wakes_after_sleep() {
    ThreadPool pool(3);
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(15));  // workers are asleep by now
      Counts counts(90);
      pool.api()->parallel_for(pool.api()->ctx, 90, &hit, &counts);
      QVERIFY(all_once(counts));
    }
  }

  void nested_regions_run_serially() {
    struct Nest {
      const RuntimeApi* api;
      Counts counts{64};
    };
    ThreadPool pool(2);
    Nest nest{pool.api()};
    const auto outer = [](void* closure, int64_t begin, int64_t end) {
      auto& n = *static_cast<Nest*>(closure);
      for (int64_t i = begin; i < end; ++i) {
        struct Inner {
          Counts* counts;
          int64_t base;
        } inner{&n.counts, i * 8};
        n.api->parallel_for(
            n.api->ctx, 8,
            [](void* c, int64_t b, int64_t e) {
              auto& in = *static_cast<Inner*>(c);
              for (int64_t j = b; j < e; ++j) in.counts->hits[in.base + j].fetch_add(1);
            },
            &inner);
      }
    };
    pool.api()->parallel_for(pool.api()->ctx, 8, outer, &nest);
    QVERIFY(all_once(nest.counts));
  }

  void two_callers_do_not_mix() {
    ThreadPool pool(2);
    std::vector<std::thread> callers;
    std::atomic<bool> good{true};
    for (int c = 0; c < 2; ++c) {
      callers.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          Counts counts(16);
          pool.api()->parallel_for(pool.api()->ctx, 16, &hit, &counts);
          if (!all_once(counts)) good = false;
        }
      });
    }
    for (auto& t : callers) t.join();
    QVERIFY(good);
  }

  void callers_affinity_is_restored() {
    cpu_set_t before, after;
    QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
    {
      ThreadPool a(1);
      ThreadPool b(1);
    }
    QCOMPARE(sched_getaffinity(0, sizeof after, &after), 0);
    QVERIFY(CPU_EQUAL(&before, &after));
  }

  /// As candidates run: the C library does not know of such a process, and of its thread it knows the parent's number.
  void caller_is_pinned_in_a_process_cloned_by_the_system() {
    cpu_set_t before;
    QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) QSKIP("one processor");
    const long pid = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    QVERIFY(pid >= 0);
    if (pid == 0) {
      const ThreadPool pool(2);
      cpu_set_t now;
      _exit(sched_getaffinity(0, sizeof now, &now) == 0 ? CPU_COUNT(&now) : 99);
    }
    int status = 0;
    QCOMPARE(waitpid(static_cast<pid_t>(pid), &status, 0), pid);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 1);
  }

  void threads_that_had_to_be_woken_are_counted() {
    ThreadPool pool(2);
    Counts counts(8);
    const auto run = [&] { pool.api()->parallel_for(pool.api()->ctx, 8, &hit, &counts); };
    for (int i = 0; i < 1000 && pool.wakes() == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // they spin for two
      run();
    }
    QVERIFY(pool.wakes() > 0);
    ThreadPool alone(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    alone.api()->parallel_for(alone.api()->ctx, 8, &hit, &counts);
    QCOMPARE(alone.wakes(), int64_t{0});
  }

  void workspace_is_aligned_reused_and_grows() {
    ThreadPool pool(1);
    const RuntimeApi& api = *pool.api();
    void* first = api.alloc(api.ctx, 1000);
    QCOMPARE(reinterpret_cast<uintptr_t>(first) % 64, uintptr_t{0});
    auto* big = static_cast<char*>(api.alloc(api.ctx, 3 << 20));
    QCOMPARE(reinterpret_cast<uintptr_t>(big) % 64, uintptr_t{0});
    big[(3 << 20) - 1] = 1;
    void* none = api.alloc(api.ctx, 0);
    QVERIFY(none != nullptr);
    api.free(api.ctx, none);
    api.free(api.ctx, big);
    api.free(api.ctx, first);
    void* a = api.alloc(api.ctx, 3 << 20);
    api.free(api.ctx, a);
    void* b = api.alloc(api.ctx, 3 << 20);
    api.free(api.ctx, b);
    QCOMPARE(a, b);  // the same memory again
  }
};

QTEST_APPLESS_MAIN(ThreadPoolTest)
#include "thread_pool_test.moc"
