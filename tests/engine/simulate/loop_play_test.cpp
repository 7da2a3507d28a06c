// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/loop_play.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/tir/parse.h"
#include "tests/engine/tir/example_funcs.h"

using namespace tw;

/// Counts of hits that can be worked out by hand, and places in a play reached in any order.
class LoopPlayTest : public QObject {
  Q_OBJECT

  static std::shared_ptr<const simulate::LoopPlay> play(const std::string& text, std::vector<simulate::CacheLevel> levels, const Target& target = {}) {
    auto trace = tir::trace_accesses(tir::parse_func(text).value(), 1 << 22);
    return simulate::LoopPlay::make(std::move(trace).value(), target, std::move(levels)).value();
  }
  static std::string copy(const char* loop, const char* index) {
    return std::string("@T.prim_func\ndef f(A: T.Buffer((16, 16), \"float32\"), C: T.Buffer((16, 16), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
                       "    for i in T.serial(16):\n        for j in T.") +
           loop + "(16):\n            C[" + index + "] = A[" + index + "]\n";
  }
  static const inline std::vector<simulate::CacheLevel> kTiny = {{"L1", 8 * 64, 8, 64}};
  static std::string counts(const simulate::PlayCounts& c) {
    std::string out = std::to_string(c.loads) + "+" + std::to_string(c.stores) + " " + std::to_string(c.lookups) + ":";
    for (const int64_t h : c.held) out += " " + std::to_string(h);
    return out;
  }
  static const inline std::string kGpuCopy = R"(@T.prim_func
def f(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    T.func_attr({"num_outputs": 1})
    for b in T.thread_binding(64, thread="blockIdx.x"):
        t = T.alloc_buffer((64,), "float32", scope="shared")
        for x in T.thread_binding(32, thread="threadIdx.x"):
            for v in T.vectorized(2):
                t[x * 2 + v] = A[b, x * 2 + v]
            for u in T.serial(2):
                C[x * 2 + u, b] = t[x * 2 + u]
)";

 private Q_SLOTS:
  void rowsAreFoundColumnsAreNot() {
    // A row of 16 floats is a line: of 16 accesses 15 find what the first one fetched.
    const auto rows = play(copy("serial", "i, j"), kTiny);
    QCOMPARE(counts(rows->sum(rows->totals(), -1, 0)), std::string("256+0 256: 240 16"));
    QCOMPARE(counts(rows->sum(rows->totals(), -1, -1)), std::string("256+256 512: 480 32"));
    // A column is 16 lines, and with those of C twice what the cache holds.
    const auto columns = play(copy("serial", "j, i"), kTiny);
    QCOMPARE(counts(columns->sum(columns->totals(), -1, 1)), std::string("0+256 256: 0 256"));
    // All lanes of a vector are served by one lookup.
    const auto vectors = play(copy("vectorized", "i, j"), kTiny);
    QCOMPARE(counts(vectors->sum(vectors->totals(), -1, 0)), std::string("256+0 16: 0 16"));
    QCOMPARE(vectors->size(), size_t{16});
    // Of the columns too, where there is room for all lines: 16 turns, the first fetches.
    const auto gathered = play(copy("vectorized", "j, i"), {{"L1", 64 * 64, 64, 64}, {"L2", 1 << 20, 8, 64}});
    QCOMPARE(counts(gathered->sum(gathered->totals(), -1, 0)), std::string("256+0 256: 240 0 16"));
    QCOMPARE(gathered->sum(gathered->totals(), -1, 0).hit_share(0), 240.0 / 256);
  }
  void smallArraysAreInRegisters() {
    Target target;
    const auto p = play(tir::kMatmul, kTiny, target);
    const auto home = [](const simulate::LoopPlay& play, const char* name) {
      for (size_t a = 0; a < play.arrays().size(); ++a)
        if (play.trace().arrays[a]->name == name) return play.arrays()[a].home;
      return simulate::PlayArray::Home::shared;
    };
    QVERIFY(home(*p, "acc") == simulate::PlayArray::Home::registers);
    QVERIFY(home(*p, "A") == simulate::PlayArray::Home::memory);
    // Between two halves of a row of C the products come by 9 other lines, one more than there is room for: each half fetches its line again.
    QCOMPARE(counts(p->sum(p->totals(), -1, 2)), std::string("0+64 64: 48 16"));
    target.vector_registers = 0;
    QVERIFY(home(*play(tir::kMatmul, kTiny, target), "acc") == simulate::PlayArray::Home::memory);
  }
  void whatLoopsSeeAddsUp() {
    const auto p = play(tir::kMatmul, kTiny);
    const auto& loops = p->trace().loops;
    int products = -1;
    for (size_t l = 0; l < loops.size(); ++l)
      if (loops[l].loop->var->name == "k") products = static_cast<int>(l);
    QCOMPARE(p->sum(p->totals(), products, 0).loads, int64_t{8 * 2 * 16 * 4});
    QCOMPARE(p->sum(p->totals(), products, 2).elements(), int64_t{0});
    QCOMPARE(counts(p->sum(p->totals(), 0, -1)), counts(p->sum(p->totals(), -1, -1)));
  }
  void warpsCountSectorsAndBanks() {
    const Target gpu = parse_target("cuda:a100").value();
    const auto p = play(kGpuCopy, simulate::cache_levels(gpu), gpu);
    const auto a = p->sum(p->totals(), -1, 0), c = p->sum(p->totals(), -1, 1), t = p->sum(p->totals(), -1, 2);
    // 64 blocks: each reads 32 pairs of floats in one access, 256 bytes.
    QCOMPARE(a.warp_accesses, int64_t{64});
    QCOMPARE(a.sectors, int64_t{64 * 8});
    QCOMPARE(a.lookups, int64_t{64 * 2});
    // And writes a column, 32 rows at once.
    QCOMPARE(c.warp_accesses, int64_t{128});
    QCOMPARE(c.sectors, int64_t{128 * 32});
    // The tile takes one access of pairs, two wavefronts, and two of every second float, in two each.
    QCOMPARE(t.warp_accesses, int64_t{64 * 3});
    QCOMPARE(t.wavefronts, int64_t{64 * (2 + 2 + 2)});
    QCOMPARE(t.lookups, int64_t{0});
  }
  void anyPlaceIsReachedInAnyOrder() {
    // Enough steps for several kept moments.
    const std::string text = R"(@T.prim_func
def f(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    T.func_attr({"num_outputs": 1})
    for i in T.serial(32):
        for j in T.serial(32):
            for k in T.serial(32):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
)";
    const auto p = play(text, {{"L1", 1024, 2, 64}, {"L2", 4096, 4, 64}});
    QCOMPARE(p->size(), size_t{32 * 32 * 32});
    simulate::LoopCursor cursor(p);
    QCOMPARE(cursor.at(), size_t{0});
    QVERIFY(cursor.played().empty());
    std::vector<size_t> places = {1, 0, 4096, 4095, 4097, 8192, 8191, p->size(), 3, p->size() + 5};
    Rng rng(7);
    for (int k = 0; k < 20; ++k) places.push_back(rng.uniform(p->size()));
    std::sort(places.begin(), places.end());
    simulate::LoopCursor forward(p);
    std::vector<std::pair<size_t, std::string>> known;
    const auto state = [&](const simulate::LoopCursor& c) {
      std::string s = std::to_string(c.at());
      for (int a = 0; a < 3; ++a) s += " " + counts(p->sum(c.counts(), -1, a));
      for (size_t l = 0; l < 2; ++l)
        for (const int64_t line : c.caches().lines(l)) s += " " + std::to_string(line);
      for (const auto& access : c.played()) s += " p" + std::to_string(access.level);
      return s;
    };
    for (const size_t at : places) {
      for (size_t step = forward.at(); step < std::min(at, p->size()); ++step) forward.seek(step + 1);
      known.emplace_back(at, state(forward));
    }
    QCOMPARE(known.back().second.substr(0, 5), std::to_string(p->size()));
    for (int k = 0; k < 200; ++k) {
      const auto& [at, expected] = known[rng.uniform(known.size())];
      cursor.seek(at);
      QCOMPARE(state(cursor), expected);
    }
    QCOMPARE(counts(p->sum(cursor.play().totals(), -1, -1)), counts(p->sum(forward.counts(), -1, -1)));
  }
  void loopsEndWhereTheyDo() {
    const auto p = play(tir::kMatmul, kTiny);
    const auto named = [&](const char* name) {
      for (size_t l = 0; l < p->trace().loops.size(); ++l)
        if (p->trace().loops[l].loop->var->name == name) return static_cast<int>(l);
      return -1;
    };
    QCOMPARE(p->after_loop(5, named("k")), size_t{20});
    QCOMPARE(p->after_loop(5, named("j.o")), size_t{48});
    QCOMPARE(p->after_loop(30, named("i")), p->size());
    QCOMPARE(p->after_loop(0, named("k")), size_t{1});  // not in it
    QCOMPARE(p->after_loop(p->size() - 1, named("k")), p->size());
    QCOMPARE(p->after_loop(p->size(), named("i")), p->size());
  }
  void bytesBelongToElements() {
    const auto p = play(tir::kMatmul, kTiny);
    QCOMPARE(p->element_at(0), (std::pair<int, int64_t>(0, 0)));
    QCOMPARE(p->element_at(8 * 16 * 4 + 8), (std::pair<int, int64_t>(1, 2)));
    QCOMPARE(p->element_at(1 << 20).first, -1);
    // Each element of C is first touched when its half row is done.
    QCOMPARE(p->arrays()[2].first_touch[5], uint32_t{24 + 20 + 1});
  }
};

QTEST_APPLESS_MAIN(LoopPlayTest)
#include "loop_play_test.moc"
