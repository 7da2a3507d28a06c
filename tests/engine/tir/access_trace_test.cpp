// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/access_trace.h"

#include <QtTest>

#include "engine/tir/parse.h"
#include "tests/engine/tir/example_funcs.h"

using namespace tw;

/// Steps of small functions whose accesses can be written down by hand.
class AccessTraceTest : public QObject {
  Q_OBJECT

  static tir::AccessTrace trace(const std::string& text, int64_t limit = 1 << 20) {
    auto result = tir::trace_accesses(tir::parse_func(text).value(), limit);
    if (!result) qFatal("%s", result.error().text().c_str());
    return std::move(*result);
  }
  static std::string step(const tir::AccessTrace& t, size_t at) {
    std::string out;
    for (size_t a = t.steps[at].accesses; a < t.steps[at + 1].accesses; ++a) {
      const tir::TracedAccess& access = t.accesses[a];
      out += (access.is_store ? " > " : " < ") + t.arrays[static_cast<size_t>(access.array)]->name;
      for (int k = 0; k < access.lanes; ++k) out += " " + std::to_string(t.positions[access.first + static_cast<size_t>(k)]);
    }
    return out;
  }

 private Q_SLOTS:
  void vectorsAreOneStep() {
    const tir::AccessTrace t = trace(tir::kMatmul);
    // For each of 8 rows and 2 halves: 4 zeros, 16 vectors, 4 results.
    QCOMPARE(t.size(), size_t{8 * 2 * (4 + 16 + 4)});
    QCOMPARE(step(t, 0), std::string(" > acc 0"));
    QCOMPARE(step(t, 4), std::string(" < acc 0 1 2 3 < A 0 0 0 0 < B 0 1 2 3 > acc 0 1 2 3"));
    QCOMPARE(step(t, 24 + 5), std::string(" < acc 0 1 2 3 < A 1 1 1 1 < B 12 13 14 15 > acc 0 1 2 3"));
    QCOMPARE(step(t, t.size() - 1), std::string(" < acc 3 > C 63"));
    QVERIFY(t.is_whole);
    // i, j.o, k, and the vector's loop, which begins at 0.
    const tir::TraceStep& s = t.steps[24 + 5];
    const std::vector<int> loops = t.statements[static_cast<size_t>(s.statement)].loops;
    QCOMPARE(loops.size(), size_t{4});
    QVERIFY(t.loops[static_cast<size_t>(loops[3])].lanes && !t.loops[static_cast<size_t>(loops[2])].lanes);
    const std::vector<int64_t> turns(t.turns.begin() + static_cast<std::ptrdiff_t>(s.turns), t.turns.begin() + static_cast<std::ptrdiff_t>(s.turns) + 4);
    QCOMPARE(turns, (std::vector<int64_t>{0, 1, 1, 0}));
    QCOMPARE(s.warp, -1);
  }
  void threadsOfABlockGoTogether() {
    const tir::AccessTrace t = trace(tir::kThreads);
    QCOMPARE(t.size(), size_t{4 * (1 + 1 + 1 + 2)});
    QCOMPARE(step(t, 0), std::string(" < A 0 2 4 6 8 10 12 14 > t 0 1 2 3 4 5 6 7"));
    QCOMPARE(step(t, 1), std::string(" < t 7 6 5 4 3 2 1 0 > s 0 0 0 0 0 0 0 0"));
    QCOMPARE(step(t, 4), std::string(" < s 0 0 0 0 0 0 0 0 > C 1 3 5 7 9 11 13 15"));
    QCOMPARE(t.steps[4].warp, 0);
  }
  void warpsAreThirtyTwoThreadsWhoseNumbersGoAlongX() {
    const tir::AccessTrace t = trace(R"(@T.prim_func
def f(A: T.Buffer((96, 2), "float32"), C: T.Buffer((2, 48, 2), "float32")):
    T.func_attr({"num_outputs": 1})
    for x in T.thread_binding(48, thread="threadIdx.x"):
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for v in T.vectorized(2):
                C[y, x, v] = A[y * 48 + x, v]
)");
    QCOMPARE(t.size(), size_t{3});
    for (size_t warp = 0; warp < 3; ++warp) {
      QCOMPARE(t.steps[warp].warp, static_cast<int>(warp));
      const tir::TracedAccess& a = t.accesses[t.steps[warp].accesses];
      QCOMPARE(a.lanes, 64);
      QCOMPARE(a.vector, 2);
      for (int64_t k = 0; k < 64; ++k) QCOMPARE(t.positions[a.first + static_cast<size_t>(k)], static_cast<int64_t>(warp) * 64 + k);
    }
  }
  void lanesThatTakeNoPartHaveNoElement() {
    const tir::AccessTrace t = trace(R"(@T.prim_func
def f(A: T.Buffer((6,), "float32"), C: T.Buffer((8,), "float32")):
    T.func_attr({"num_outputs": 1})
    for i in T.vectorized(8):
        if i < 7:
            C[i] = select(i < 6, A[i], T.float32(0))
    for j in T.vectorized(2):
        for k in T.serial(j, j * 2 + 1):
            C[k] = T.float32(0)
)");
    QCOMPARE(step(t, 0), std::string(" < A 0 1 2 3 4 5 -1 -1 > C 0 1 2 3 4 5 6 -1"));
    QCOMPARE(step(t, 1), std::string(" > C 0 1"));
    QCOMPARE(step(t, 2), std::string(" > C -1 2"));
    QCOMPARE(t.size(), size_t{3});
  }
  void branchesGoTheirWayAndGatheredIndicesAreZero() {
    const tir::AccessTrace t = trace(tir::kScopes);
    // 10 into t; 8 with i < s = 0 nowhere, so -1 each; nothing; one to D, which reads s for its index before; 2.
    QCOMPARE(t.size(), size_t{10 + 8 + 1 + 2});
    QCOMPARE(step(t, 10), std::string(" > C 2"));
    QCOMPARE(step(t, 18), std::string(" < A 0 > D 0"));
  }
  void itEndsAtTheLimit() {
    const tir::AccessTrace t = trace(tir::kMatmul, 40);
    QVERIFY(!t.is_whole);
    QCOMPARE(t.size(), size_t{4 + 3});  // 4 zeros, and 3 vectors of 16 elements
    QCOMPARE(t.steps.back().accesses, t.accesses.size());
    QVERIFY(trace(tir::kMatmul, 0).size() == 0);
  }
  void whatCannotBeFollowedIsSaid() {
    const auto refused = [](const std::string& text) {
      const auto r = tir::trace_accesses(tir::parse_func(text).value(), 1000);
      return r ? std::string() : r.error().text();
    };
    QVERIFY2(refused(tir::kFlatVector).find("found vectors in its expressions") != std::string::npos, refused(tir::kFlatVector).c_str());
    QVERIFY2(refused(tir::kProduct).find("found products by the tensor cores") != std::string::npos, refused(tir::kProduct).c_str());
    QVERIFY2(refused("@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\"), C: T.Buffer((5,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
                     "    for i in T.serial(5):\n        C[i] = A[i]\n")
                 .find("A") != std::string::npos,
             "an access outside");
    StopSource stop;
    stop.request_stop();
    QCOMPARE(tir::trace_accesses(tir::parse_func(tir::kMatmul).value(), 1000, stop.get_token()).error().code, ErrorCode::cancelled);
  }
};

QTEST_APPLESS_MAIN(AccessTraceTest)
#include "access_trace_test.moc"
