// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/loops.h"

#include <QtTest>
#include <map>

#include "engine/arith/analyzer.h"
#include "engine/base/rng.h"
#include "engine/ir/equal.h"

using namespace tw;
using schedule::Annotation;
using schedule::Builder;

class LoopsTest : public QObject {
  Q_OBJECT

  /// x -> twice -> more -> out, over [12, 7].
  static te::DagPtr chain() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {12, 7}, kFloat32);
    const te::Tensor twice = d.compute("twice", {12, 7}, [&](const te::Indices& i) { return x.at(i) * ir::fimm(kFloat32, 2); });
    const te::Tensor more = d.compute("more", {12, 7}, [&](const te::Indices& i) { return twice.at(i) + ir::fimm(kFloat32, 1); });
    return std::move(d).finish({d.compute("out", {12, 7}, [&](const te::Indices& i) { return more.at(i) + twice.at(i); })});
  }
  static std::vector<std::string> names(const std::vector<schedule::Stage>& stages, const std::vector<schedule::LoopRef>& loops) {
    std::vector<std::string> out;
    for (const schedule::LoopRef& l : loops) out.push_back(stages[static_cast<size_t>(l.stage)].iters[l.loop].var->name);
    return out;
  }
  using Names = std::vector<std::string>;

 private Q_SLOTS:
  void loopsAroundAStage() {
    Builder b(chain());
    const auto rows = b.split(3, b.loops(3)[0], {4});
    b.bind(3, rows[0], Annotation::block_x);
    b.bind(3, rows[1], Annotation::thread_x);
    b.compute_at(2, 3, rows[0]);
    b.compute_at(1, 3, rows[0]);
    QVERIFY(b.ok());
    QCOMPARE(schedule::root_of(b.all(), 1), 3);
    QCOMPARE(schedule::root_of(b.all(), 3), 3);
    b.compute_at(2, 3, rows[1]);
    QCOMPARE(names(b.all(), schedule::loops_around(b.all(), 1)), (Names{"j", "i", "i_0"}));
    QCOMPARE(names(b.all(), schedule::loops_around(b.all(), 2)), (Names{"j", "i", "i_1", "i_0"}));
    // Threads of a block fill a shared array together: those around it say nothing of what it holds.
    std::vector<schedule::Stage> stages = b.all();
    stages[2].scope = ir::Scope::shared;
    QCOMPARE(names(stages, schedule::loops_around(stages, 2)), (Names{"j", "i", "i_0"}));
    // Left open, it is each thread's own inside a loop over threads, and the block's outside.
    stages[2].scope = ir::Scope::global;
    schedule::resolve_scopes(stages);
    QVERIFY(stages[2].scope == ir::Scope::local);
    QVERIFY(stages[1].scope == ir::Scope::shared);
    QVERIFY(stages[3].scope == ir::Scope::global);
  }

  void readersThroughInlinedStages() {
    Builder b(chain());
    QCOMPARE(schedule::readers_of(b.all(), 1), (std::vector<int>{2, 3}));
    QCOMPARE(schedule::reading_loops(b.all(), 1), (std::vector<int>{2, 3}));
    b.compute_inline(2);
    QCOMPARE(schedule::readers_of(b.all(), 1), (std::vector<int>{2, 3}));
    QCOMPARE(schedule::reading_loops(b.all(), 1), (std::vector<int>{3}));
  }

  /// One body at a time or all of them: the same.
  void bodiesWithDefinitionsWrittenIn() {
    Builder b(chain());
    b.compute_inline(1);
    b.compute_inline(2);
    std::vector<schedule::Stage> stages = b.all();
    schedule::inline_stages(stages);
    for (int i = 1; i < 4; ++i) QVERIFY(ir::structural_equal(schedule::whole_body(b.all(), i), *stages[static_cast<size_t>(i)].op.body));
    QCOMPARE(schedule::readers_of(stages, 0), (std::vector<int>{1, 2, 3}));
    QVERIFY(schedule::readers_of(stages, 1).empty());
  }

  void extentsFollowSplitsAndFusions() {
    Builder b(chain());
    const auto parts = b.split(3, b.loops(3)[0], {2, 5});
    const ir::Var fused = b.fuse(3, {parts[2], b.loops(3)[3]});
    const schedule::Stage& st = b.at(3);
    const schedule::Extents whole = schedule::loop_extents(st, schedule::axis_extents(st), false);
    for (const schedule::Iter& it : st.iters) QCOMPARE(whole.at(it.var.get()), it.extent);
    schedule::Extents region = schedule::axis_extents(st);
    region[st.op.axes[0].var.get()] = 3;
    const schedule::Extents shrunk = schedule::loop_extents(st, region, true);
    QCOMPARE(shrunk.at(parts[0].get()), int64_t{1});
    QCOMPARE(shrunk.at(parts[1].get()), int64_t{1});
    QCOMPARE(shrunk.at(parts[2].get()), int64_t{3});
    QCOMPARE(shrunk.at(fused.get()), int64_t{21});
  }

  /// The loops of a stage in random forms, run through: each element of its axes comes exactly once, once surplus is left out.
  void valuesRunThroughAllAxes() {
    for (int seed = 0; seed < 200; ++seed) {
      Rng rng(static_cast<uint64_t>(seed));
      Builder b(chain());
      for (int step = 0; step < 5; ++step) {
        const auto loops = b.loops(3);
        const size_t k = rng.uniform(loops.size());
        if (rng.uniform(2) || k + 1 == loops.size())
          b.split(3, loops[k], {rng.range(1, 4)});
        else
          b.fuse(3, {loops[k], loops[k + 1]});
      }
      const schedule::Stage& st = b.at(3);
      const schedule::Extents extents = schedule::loop_extents(st, schedule::axis_extents(st), rng.uniform(2) == 1);
      int64_t total = 1;
      for (const schedule::Iter& it : st.iters) total *= extents.at(it.var.get());
      std::map<std::pair<int64_t, int64_t>, int> seen;
      for (int64_t n = 0; n < total; ++n) {
        ir::VarMap at;
        int64_t rest = n;
        for (const schedule::Iter& it : st.iters) {
          at.emplace(it.var.get(), ir::index(rest % extents.at(it.var.get())));
          rest /= extents.at(it.var.get());
        }
        const schedule::LoopValues values = schedule::loop_values(st, extents, at);
        const arith::Analyzer analyzer;
        const auto number = [&](const ir::Expr& e) { return ir::as_int(analyzer.simplify(e)).value(); };
        bool real = true;
        for (const auto& [value, extent] : values.surplus) real = real && number(value) < extent;
        if (real) ++seen[{number(values.value.at(st.op.axes[0].var.get())), number(values.value.at(st.op.axes[1].var.get()))}];
      }
      QCOMPARE(seen.size(), size_t{12 * 7});
      for (const auto& [element, times] : seen) QVERIFY(times == 1 && element.first < 12 && element.second < 7);
    }
  }
};

QTEST_APPLESS_MAIN(LoopsTest)
#include "loops_test.moc"
