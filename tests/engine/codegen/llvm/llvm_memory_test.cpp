// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/panels.h"
#include "engine/target/target.h"
#include "engine/tir/stmt.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using ir::Expr;
using tir::ForKind;

/// How arrays are reached: which reads are masked, and what is fetched ahead, as LLVM's text shows it.
class MemoryTest : public QObject {
  Q_OBJECT

  static constexpr int kLanes = 16;

  static Expr at(const ir::Var& v) { return ir::to_expr(v); }
  static Expr vector(const Expr& first) { return ir::ramp(first, ir::index(1), kLanes); }
  static std::string listing(const tir::Func& f, const Target& t) {
    const auto l = codegen::build_listing(f, t);
    return l ? l->llvm_ir : l.error().text();
  }
  static int count(const std::string& text, const std::string& word) {
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  }
  /// B[k] = A[T[k]] of a vector; `inside`: it is known that places lie in the array.
  static tir::Func looked_up(DType type, int lanes, bool inside) {
    const auto A = ir::make_buffer("A", type, {40}), T = ir::make_buffer("T", kInt64, {kLanes}), B = ir::make_buffer("B", type, {kLanes});
    const Expr v = ir::ramp(ir::index(0), ir::index(1), lanes), place = ir::load(T, {v});
    const auto all = [&](int64_t n) { return ir::broadcast(ir::index(n), lanes); };
    return {"kernel", {A, T, B}, 1, inside ? tir::store(B, {v}, ir::load(A, {ir::min(ir::max(place, all(0)), all(39))}))
                                           : tir::if_then(place < all(40), tir::store(B, {v}, ir::load(A, {place})))};
  }
  static int fetches(const tir::Func& f, const Target& t) { return count(listing(f, t), "call void @llvm.prefetch"); }

 private Q_SLOTS:
  /// Every access says which arrays it cannot touch: all but its own, where none may be computed in place of another.
  void arrays_are_told_apart() {
    const auto A = ir::make_buffer("A", kFloat32, {96}), B = ir::make_buffer("B", kFloat32, {80}), C = ir::make_buffer("C", kFloat32, {48});
    const ir::Var i = ir::make_var("i");
    const Expr v = vector(at(i) * int64_t{kLanes});
    const tir::Func f{
        "kernel", {A, B, C}, 1, tir::make_for(i, ir::index(0), ir::index(3), ForKind::serial, tir::store(C, {v}, ir::load(A, {v}) * ir::load(B, {v})))};
    const std::string text = listing(f, *parse_target("llvm -mcpu=x86-64-v4"));
    int accesses = 0;
    for (const std::string_view line : split_lines(text)) {
      if (line.find("<16 x float>") == std::string_view::npos ||
          (line.find(" load ") == std::string_view::npos && line.find(" store ") == std::string_view::npos))
        continue;
      ++accesses;
      QVERIFY2(line.find("!alias.scope") != std::string_view::npos && line.find("!noalias") != std::string_view::npos, std::string(line).c_str());
    }
    QVERIFY2(accesses >= 3, text.c_str());
  }

  /// Vectors of 14 elements are read under a mask rather than in pieces, where a processor can; those of registers are not in memory.
  void odd_vectors_are_one_read() {
    constexpr int kOdd = 14;
    const auto A = ir::make_buffer("A", kFloat32, {42}), B = ir::make_buffer("B", kFloat32, {42}), sum = ir::make_buffer("sum", kFloat32, {kOdd}, ir::Scope::local);
    const ir::Var i = ir::make_var("i");
    const Expr v = ir::ramp(at(i) * int64_t{kOdd}, ir::index(1), kOdd), all = ir::ramp(ir::index(0), ir::index(1), kOdd);
    const tir::Stmt body = tir::seq({tir::store(sum, {all}, ir::load(A, {v})), tir::store(B, {v}, ir::load(sum, {all}) + ir::load(sum, {all}))});
    const tir::Func f{"kernel", {A, B}, 1, tir::make_for(i, ir::index(0), ir::index(3), ForKind::serial, tir::alloc(sum, body))};
    const auto masked = [&](const char* target) { return count(listing(f, *parse_target(target)), "call contract <16 x float> @llvm.masked.load"); };
    QCOMPARE(masked("llvm -mcpu=x86-64-v4"), 1);
    QCOMPARE(masked("llvm -mcpu=x86-64-v3"), 0);  // longer than a register
    QCOMPARE(masked("llvm -mcpu=x86-64-v2"), 0);
  }

  /// Where a row lies is read from its table once, not for every vector of the row.
  void tables_are_read_before_rows() {
    const auto A = ir::make_buffer("A", kFloat32, {9, 48}), T = ir::make_buffer("T", kInt64, {4}), B = ir::make_buffer("B", kFloat32, {4, 48});
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    const Expr v = vector(at(j) * int64_t{kLanes});
    const tir::Stmt row = tir::store(B, {ir::broadcast(at(i), kLanes), v}, ir::load(A, {ir::broadcast(ir::load(T, {at(i)}), kLanes), v}));
    const tir::Func f{"kernel", {A, T, B}, 1,
                      tir::make_for(i, ir::index(0), ir::index(4), ForKind::serial, tir::make_for(j, ir::index(0), ir::index(3), ForKind::serial, row))};
    const auto l = codegen::build_listing(f, *parse_target("llvm -mcpu=x86-64-v4"));
    QVERIFY(l);
    const size_t vectors = l->assembly.find("zmm"), loop = l->assembly.rfind(".LBB", vectors);
    QVERIFY2(vectors != std::string::npos && loop != std::string::npos, l->assembly.c_str());
    const std::string before = l->assembly.substr(0, loop), inside = l->assembly.substr(loop, vectors - loop);
    QVERIFY2(before.find("qword ptr") != std::string::npos && inside.find("qword ptr") == std::string::npos, l->assembly.c_str());
  }

  /// Elements that a table places within one vector come from one read, others each from theirs; at the end of an array, too, and in part.
  void elements_near_each_other_data() {
    QTest::addColumn<QString>("target");
    QTest::addColumn<int>("permutations");
    QTest::newRow("AVX-512") << "llvm -mcpu=x86-64-v4" << 1;
    QTest::newRow("AVX2") << "llvm -mcpu=x86-64-v3" << 0;  // two vectors
    QTest::newRow("SSE") << "llvm -mcpu=x86-64-v2" << 0;
  }
  void elements_near_each_other() {
    QFETCH(const QString, target);
    QFETCH(const int, permutations);
    const Target t = *parse_target(target.toStdString());
    QCOMPARE(count(listing(looked_up(kFloat32, kLanes, true), t), "@llvm.x86.avx512.permvar.sf.512(<16 x float> %"), permutations);
    QCOMPARE(count(listing(looked_up(kFloat32, 8, true), t), "@llvm.x86.avx2.permps(<8 x float> %"), target.endsWith("v2") ? 0 : 1);
    QCOMPARE(count(listing(looked_up(kFloat64, 8, true), t), "perm"), 0);
    QCOMPARE(count(listing(looked_up(kFloat32, kLanes, false), t), "perm"), 0);  // what lies outside is not read
    const std::vector<std::function<int64_t(int64_t)>> tables = {[](int64_t k) { return k / 2; },      [](int64_t k) { return 19 + k / 3; }, [](int64_t k) { return 39 - k; },
                                                                 [](int64_t k) { return k * 7 % 40; }, [](int64_t k) { return 20 + k; },     [](int64_t k) { return k == 9 ? 0 : 30; }};
    for (const DType type : {kFloat32, kInt32})
      for (const int lanes : {kLanes, 8, 10})
        for (const auto& table : tables) {
          std::vector<HostArray> args = {HostArray::make(type, {40}), HostArray::make(kInt64, {kLanes}), HostArray::make(type, {kLanes})};
          for (int64_t k = 0; k < 40; ++k) args[0].set(k, static_cast<double>(3 * k + 1));
          for (int64_t k = 0; k < kLanes; ++k) args[1].set(k, static_cast<double>(std::clamp<int64_t>(table(k), 0, 39)));
          QVERIFY(codegen::testing::run(looked_up(type, lanes, true), args, host_target()));
          for (int64_t k = 0; k < lanes; ++k) QCOMPARE(args[2].get(k), 3 * args[1].get(k) + 1);
        }
  }

  /// One channel of each of a vector's four groups, whichever it is: the vector is read as it lies.
  void groups_are_spread_from_one_read() {
    const auto A = ir::make_buffer("A", kFloat32, {64}), B = ir::make_buffer("B", kFloat32, {64});
    const ir::Var i = ir::make_var("i");
    for (const int64_t channel : {0, 1, 3, 17}) {
      const Expr lane = ir::ramp(ir::index(0), ir::index(1), kLanes), four = ir::broadcast(ir::index(4), kLanes);
      const Expr from = ir::broadcast(at(i) * int64_t{kLanes} + channel, kLanes) + ir::floor_div(lane, four) * four;
      const tir::Func f{"kernel",
                        {A, B},
                        1,
                        tir::make_for(i, ir::index(0), ir::index(2), ForKind::serial, tir::store(B, {vector(at(i) * int64_t{kLanes})}, ir::load(A, {from})))};
      const std::string text = listing(f, *parse_target("llvm -mcpu=x86-64-v4"));
      QVERIFY2(count(text, "load <16 x float>") >= 1 && count(text, "load float") == 0, text.c_str());
    }
  }

  /// Rows that were just written are turned in registers like others, from where they are read across.
  void blocks_just_written() {
    const int rows = 8, columns = 16;
    const auto A = ir::make_buffer("A", kFloat32, {rows * columns}), B = ir::make_buffer("B", kFloat32, {rows * columns});
    const auto R = ir::make_buffer("R", kFloat32, {rows * columns}, ir::Scope::local);
    std::vector<tir::Stmt> stmts;
    for (int64_t k = 0; k < rows; ++k) {
      const ir::Expr row = ir::ramp(ir::index(k * columns), ir::index(1), columns);
      stmts.push_back(tir::store(R, {row}, ir::load(A, {row}) + ir::load(A, {row})));
    }
    for (int64_t l = 0; l < columns; ++l)
      stmts.push_back(tir::store(B, {ir::ramp(ir::index(l * rows), ir::index(1), rows)}, ir::load(R, {ir::ramp(ir::index(l), ir::index(columns), rows)})));
    const tir::Func f{"kernel", {A, B}, 1, tir::alloc(R, tir::seq(std::move(stmts)))};
    std::vector<HostArray> args(2, HostArray::make(kFloat32, {rows * columns}));
    for (int64_t i = 0; i < rows * columns; ++i) args[0].set(i, static_cast<double>(i));
    QVERIFY(run(f, args, host_target()));
    for (int64_t i = 0; i < rows * columns; ++i) QCOMPARE(args[1].get(i), static_cast<double>(2 * (i % rows * columns + i / rows)));
    const std::string text = listing(f, *parse_target("llvm -mcpu=znver4"));
    QCOMPARE(count(text, "@llvm.masked.gather"), 0);
    QVERIFY(count(text, "shufflevector") > 0);
  }

  /// Channels of groups: a vector's elements are those of one group or of two, at whatever place it begins.
  void elements_of_two_groups() {
    const int64_t n = 320, lanes = 16;
    for (const int64_t divisor : {5, 16, 20, 33, 200})
      for (const int64_t from : {-40, 0, 7}) {
        const int64_t groups = (n + 50) / divisor + 10, before = 9;
        const auto A = ir::make_buffer("A", kFloat32, {groups * 2}), B = ir::make_buffer("B", kFloat32, {n});
        const ir::Var v = ir::make_var("i");
        const ir::Expr first = ir::to_expr(v) * lanes, numbers = ir::ramp(first + from, ir::index(1), lanes);
        const auto all = [&](int64_t k) { return ir::broadcast(ir::index(k), lanes); };
        const ir::Expr place = (ir::floor_div(numbers, all(divisor)) + all(before)) * all(2) + all(1);
        const tir::Func f{"kernel",
                          {A, B},
                          1,
                          tir::make_for(v, ir::index(0), ir::index(n / lanes), tir::ForKind::serial,
                                        tir::store(B, {ir::ramp(first, ir::index(1), lanes)}, ir::load(A, {place})))};
        std::vector<HostArray> args = {HostArray::make(kFloat32, {groups * 2}), HostArray::make(kFloat32, {n})};
        for (int64_t i = 0; i < groups * 2; ++i) args[0].set(i, static_cast<double>(i));
        QVERIFY(run(f, args, host_target()));
        for (int64_t i = 0; i < n; ++i)
          QCOMPARE(args[1].get(i),
                   static_cast<double>((static_cast<int64_t>(std::floor(static_cast<double>(i + from) / static_cast<double>(divisor))) + before) * 2 + 1));
        QCOMPARE(count(listing(f, *parse_target("llvm -mcpu=znver4")), "@llvm.masked.gather") > 0, divisor < lanes);
      }
  }

  /// Blocks that are transposed in registers are read in rows. One that no lane needs, as of a channel that only pads, lies outside of the array.
  void rows_outside_an_array_are_not_read_data() {
    QTest::addColumn<int>("planes");
    QTest::addColumn<int>("taken");
    QTest::addColumn<int>("moved");
    QTest::addColumn<int>("rows");
    QTest::addColumn<bool>("masked");  // the store, in place of a select
    QTest::newRow("all rows") << 4 << 4 << 0 << 4 << false;
    QTest::newRow("the last one is outside") << 3 << 3 << 0 << 3 << false;
    QTest::newRow("the first one is outside") << 3 << 3 << 16 << 3 << false;
    QTest::newRow("one lies partly outside") << 3 << 2 << 1 << 0 << false;
    QTest::newRow("the last one is outside, stored under a mask") << 3 << 3 << 0 << 3 << true;
    QTest::newRow("the first one is outside, stored under a mask") << 3 << 3 << 16 << 3 << true;
    QTest::newRow("two are left out by a mask") << 4 << 2 << 0 << 2 << true;
  }
  void rows_outside_an_array_are_not_read() {
    QFETCH(int, planes);
    QFETCH(int, taken);
    QFETCH(int, moved);
    QFETCH(int, rows);
    QFETCH(bool, masked);
    constexpr int kFour = 4, kPixels = 16;
    const auto A = ir::make_buffer("A", kFloat32, {planes * kPixels}), B = ir::make_buffer("B", kFloat32, {kFour * kPixels});
    const ir::Var i = ir::make_var("i");
    const Expr lane = ir::ramp(ir::index(0), ir::index(1), kFour), limit = ir::broadcast(ir::index(moved == kPixels ? kFour - taken : taken), kFour);
    const Expr counts = moved == kPixels ? limit <= lane : lane < limit;
    std::vector<tir::Stmt> columns;
    for (int64_t j = 0; j < kFour; ++j) {
      const Expr read = ir::load(A, {ir::ramp(at(i) * int64_t{kFour} + (j - moved), ir::index(kPixels), kFour)});
      const Expr value = masked ? read : ir::select(counts, read, ir::broadcast(ir::constant(kFloat32, 0), kFour));
      columns.push_back(tir::store(B, {ir::ramp(at(i) * int64_t{kFour * kFour} + j * kFour, ir::index(1), kFour)}, value));
    }
    const tir::Stmt block = masked ? tir::if_then(counts, tir::seq(columns)) : tir::seq(columns);
    const tir::Func f{"kernel", {A, B}, 1, tir::make_for(i, ir::index(0), ir::index(kPixels / kFour), ForKind::serial, block)};
    const std::string text = listing(f, *parse_target("llvm -mcpu=x86-64-v3"));
    QVERIFY2(count(text, " load <4 x float>") == rows, text.c_str());
  }

  /// Under a mask an array is read in whole vectors where all of them lie inside, and nowhere else.
  void masks_at_the_ends_of_arrays_data() {
    QTest::addColumn<int>("shift");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("elements");
    QTest::addColumn<bool>("masked");
    QTest::newRow("all inside") << 0 << 1 << 48 << false;
    QTest::newRow("the last one outside") << 0 << 1 << 47 << true;
    QTest::newRow("moved to the end") << 1 << 1 << 49 << false;
    QTest::newRow("moved beyond the end") << 1 << 1 << 48 << true;
    QTest::newRow("before the beginning") << -1 << 1 << 48 << true;
    QTest::newRow("far apart, inside") << 0 << 5 << 236 << false;
    QTest::newRow("far apart, the last one outside") << 0 << 5 << 235 << true;
    QTest::newRow("far apart, before the beginning") << -1 << 5 << 300 << true;
  }
  void masks_at_the_ends_of_arrays() {
    QFETCH(const int, shift);
    QFETCH(const int, stride);
    QFETCH(const int, elements);
    QFETCH(const bool, masked);
    const auto A = ir::make_buffer("A", kFloat32, {elements}), C = ir::make_buffer("C", kFloat32, {48}), L = ir::make_buffer("L", kInt64, {1});
    const ir::Var i = ir::make_var("i");
    const Expr v = vector(at(i) * int64_t{kLanes});
    const Expr place = ir::ramp(at(i) * int64_t{kLanes * stride} + int64_t{shift}, ir::index(stride), kLanes);
    const Expr some = v < ir::broadcast(ir::load(L, {ir::index(0)}), kLanes);
    const tir::Func f{
        "kernel", {A, L, C}, 1, tir::make_for(i, ir::index(0), ir::index(3), ForKind::serial, tir::if_then(some, tir::store(C, {v}, ir::load(A, {place}))))};
    const std::string text = listing(f, *parse_target("llvm -mcpu=x86-64-v3"));  // which has no gathers of ours
    QVERIFY2(text.find("define") != std::string::npos, text.c_str());
    QCOMPARE(count(text, "= call contract <16 x float> @llvm.masked."), int{masked});
    QCOMPARE(count(text, "call void @llvm.masked.store"), 1);
  }

  /// As many lines of the next panel as are due in each turn.
  void panels_are_asked_for_line_by_line() {
    Target t = *parse_target("llvm -mcpu=x86-64-v4");
    t.l2_bytes = 1 << 20;
    for (const int64_t depth : {64, 256, 1024}) {
      const ir::Buffer w = ir::make_buffer("w", kFloat32, {4 * 16 * depth}), out = ir::make_buffer("out", kFloat32, {kLanes});
      const ir::Var j = ir::make_var("j"), i = ir::make_var("i"), k = ir::make_var("k");
      tir::Stmt s = tir::store(out, {vector(ir::index(0))}, ir::load(w, {vector(at(j) * int64_t{16 * depth} + at(k) * int64_t{16})}));
      s = tir::make_for(k, ir::index(0), ir::index(depth), ForKind::serial, s);
      s = tir::make_for(i, ir::index(0), ir::index(100), ForKind::serial, s);
      s = tir::make_for(j, ir::index(0), ir::index(4), ForKind::parallel, s);
      const tir::Func f{"kernel", {w, out}, 1, s};
      int lines = 0;
      for (const auto& [body, here] : codegen::panels_of(f, t).fetches)
        for (const codegen::PanelFetch& fetch : here) lines += static_cast<int>(fetch.lines);
      QVERIFY(lines > 0);
      QCOMPARE(fetches(f, t), lines);
    }
  }

  /// What comes from memory is asked for 16 KiB ahead, each line once.
  void inputs_are_fetched_ahead() {
    Target t = *parse_target("llvm -mcpu=x86-64-v4");
    t.l3_bytes = 4096;
    const ir::Buffer a = ir::make_buffer("a", kFloat32, {1 << 16}), b = ir::make_buffer("b", kFloat32, {1 << 15});
    const ir::Var i = ir::make_var("i");
    const auto sums = [&](int64_t step, const std::vector<int64_t>& offsets) {
      Expr sum = ir::load(a, {vector(at(i) * step + offsets[0])});
      for (size_t k = 1; k < offsets.size(); ++k) sum = sum + ir::load(a, {vector(at(i) * step + offsets[k])});
      return tir::Func{
          "kernel", {a, b}, 1, tir::make_for(i, ir::index(0), ir::index(1000), ForKind::parallel, tir::store(b, {vector(at(i) * int64_t{kLanes})}, sum))};
    };
    const std::string one = listing(sums(16, {0}), t);
    QCOMPARE(count(one, "call void @llvm.prefetch"), 1);
    QVERIFY2(one.find("i64 4096\n") != std::string::npos, one.c_str());
    QCOMPARE(fetches(sums(32, {0, 16}), t), 2);      // two lines a turn
    QCOMPARE(fetches(sums(16, {0, 16}), t), 1);      // the next turn's line
    QCOMPARE(fetches(sums(16, {0, 0}), t), 1);       // one line twice
    QCOMPARE(fetches(sums(16, {0, 16 * 8}), t), 2);  // too late to be the same
    // What jumps by more than a turn reads, an eighth of the loop: nobody asks for what its first turns read.
    const std::string jumps = listing(sums(64, {0}), t);
    QVERIFY2(jumps.find("i64 8000\n") != std::string::npos, jumps.c_str());  // 125 of 1,000 turns instead of 256
    // Of panels that a remainder names, likewise.
    const ir::Var p = ir::make_var("p");
    const auto read = [&] { return ir::load(a, {vector(ir::floor_mod(at(p), ir::index(4)) * int64_t{4096} + at(i) * int64_t{kLanes})}); };
    const tir::Stmt panel = tir::make_for(i, ir::index(0), ir::index(256), ForKind::serial,
                                          tir::store(b, {vector(at(p) * int64_t{4096} + at(i) * int64_t{kLanes})}, read() + read()));
    QCOMPARE(fetches({"kernel", {a, b}, 1, tir::make_for(p, ir::index(0), ir::index(8), ForKind::parallel, panel)}, t), 1);
    t.l3_bytes = int64_t{1} << 30;
    QCOMPARE(fetches(sums(16, {0}), t), 0);
  }
};

QTEST_APPLESS_MAIN(MemoryTest)
#include "llvm_memory_test.moc"
