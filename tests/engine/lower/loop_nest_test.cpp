// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/loop_nest.h"

#include <fmt/format.h>

#include <QtTest>
#include <map>
#include <set>
#include <sstream>

#include "engine/lower/lower.h"
#include "engine/tir/print.h"
#include "engine/tir/visit.h"
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;

class LoopNestTest : public QObject {
  Q_OBJECT
  using Loop = std::pair<int, int>;  ///< stage, position

  /// What the outline says of each loop.
  static std::map<Loop, int64_t> printed_extents(const lower::PrintedLoops& loops) {
    std::map<Loop, int64_t> out;
    std::istringstream text(loops.text);
    std::string line;
    for (const lower::LoopLine& l : loops.lines) {
      std::getline(text, line);
      if (l.kind != lower::LoopLine::Kind::loop) continue;
      std::istringstream words(line);
      std::string word, name;
      int64_t extent = 0;
      words >> word >> name >> word >> extent;
      out[{l.stage, l.loop}] = extent;
    }
    return out;
  }

  /// Whether the outline and the lowered function have the same loops; `compared` counts them.
  static std::string difference(const schedule::Schedule& s, const tir::Func& f, int& compared) {
    const std::map<Loop, int64_t> printed = printed_extents(lower::print_loops(s));
    std::set<Loop> found;
    std::string problem;
    tir::walk(f.body, [&](const tir::Stmt& x) {
      const auto* n = tir::as<tir::ForNode>(x);
      if (!n || n->origin.loop < 0) return;  // those that clear a warp's tile are no loops of the stage
      const Loop loop{n->origin.stage, n->origin.loop};
      const auto p = printed.find(loop);
      const auto extent = ir::as_int(n->extent);
      if (p == printed.end() || !extent || *extent != p->second)
        problem = fmt::format("loop '{}' of stage {} runs {} times, printed are {}", n->var->name, loop.first, extent.value_or(-1),
                              p == printed.end() ? -1 : p->second);
      found.insert(loop);
    });
    for (const auto& [loop, extent] : printed) {
      const schedule::Stage& st = s.stages()[static_cast<size_t>(loop.first)];
      const schedule::Annotation a = st.iters[static_cast<size_t>(loop.second)].annotation;
      const bool coordinate = schedule::is_block(a) || schedule::is_thread(a);  // one loop of the launch stands for several
      if (found.contains(loop) != (extent > 1) && !coordinate && !st.warp_product)
        problem = fmt::format("loop {} of stage '{}' is printed to run {} times", loop.second, st.op.name, extent);
      ++compared;
    }
    return problem.empty() ? "" : problem + "\n" + lower::print_loops(s).text + tir::print(f);
  }

 private Q_SLOTS:
  void extentsAreThoseOfTheLoweredLoops_data() {
    QTest::addColumn<int>("dag");
    int k = 0;
    for (const auto& d : tw::testing::sample_dags()) QTest::newRow(d.name) << k++;
  }
  void extentsAreThoseOfTheLoweredLoops() {
    QFETCH(int, dag);
    const tw::testing::NamedDag sample = tw::testing::sample_dags()[static_cast<size_t>(dag)];
    int compared = 0, shrunk = 0;
    for (int seed = 0; seed < 300; ++seed) {
      Rng rng(static_cast<uint64_t>(seed) * 6151 + static_cast<uint64_t>(dag));
      const schedule::Schedule s = tw::testing::random_schedule(sample.dag, rng, 4 + seed % 24);
      const auto f = lower::lower(s, "f");
      if (!f) continue;
      QCOMPARE(difference(s, *f, compared), std::string());
      for (const auto& [loop, extent] : printed_extents(lower::print_loops(s)))
        shrunk += extent < s.stages()[static_cast<size_t>(loop.first)].iters[static_cast<size_t>(loop.second)].extent;
    }
    QVERIFY2(compared > 300, qPrintable(QString::number(compared)));
    QVERIFY(shrunk > 0);
  }
  void launchesToo() {
    int compared = 0;
    for (const tw::testing::GpuSchedule& g : tw::testing::gpu_schedules()) {
      const auto f = lower::lower(g.schedule, "f");
      QVERIFY2(f, f ? "" : f.error().text().c_str());
      QCOMPARE(difference(g.schedule, *f, compared), std::string());
    }
    QVERIFY(compared > 100);
  }

  /// A stage that is computed for a tile of its reader runs over the tile.
  void aTileIsPrintedAsOne() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {32}, kFloat32);
    const te::Tensor y = d.compute("y", {32}, [&](const te::Indices& i) { return x.at(i) * ir::fimm(kFloat32, 2); });
    const te::Tensor z = d.compute("z", {32}, [&](const te::Indices& i) { return y.at(i) + ir::fimm(kFloat32, 1); });
    schedule::Builder b(std::move(d).finish({z}));
    const auto tiles = b.split(2, b.loops(2)[0], {8});
    b.compute_at(1, 2, tiles[0]);
    QCOMPARE(lower::print_loops(std::move(b).finish().value()).text,
             std::string("input x[32]\nz:\n  for i_0 in 4\n    y:\n      for i in 8\n        compute\n    for i_1 in 8\n      compute\n"));
  }

  /// Steps that are no schedule any more are shown as they were written.
  void anIllegalScheduleHasTheExtentsOfItsSteps() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {32}, kFloat32);
    const te::Tensor y = d.compute("y", {32}, [&](const te::Indices& i) { return x.at(i) * ir::fimm(kFloat32, 2); });
    const te::Tensor z = d.compute("z", {32}, [&](const te::Indices& i) { return y.at(i) + ir::fimm(kFloat32, 1); });
    schedule::Builder b(std::move(d).finish({z}));
    b.compute_at(1, 2, b.loops(2)[0]);
    b.cache_write(2);  // the loop goes to the cache, and what was computed in it stays with the copy
    const schedule::Schedule s = std::move(b).finish().value();
    QVERIFY(!lower::lower(s, "f"));
    QCOMPARE(lower::print_loops(s).text, std::string("input x[32]\nz_local:\n  for i in 32\n    compute\nz:\n  for i in 32\n    compute\n"));
  }
};

QTEST_APPLESS_MAIN(LoopNestTest)
#include "loop_nest_test.moc"
