// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/packing.h"

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/space/sketch/draw.h"
#include "engine/tir/interp.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::space;
using schedule::LayoutStep;
namespace dags = tw::testing::dags;

namespace {

/// c[i, j] = sum over k of a[i, k] w[j, k], w constant.
te::DagPtr dense() {
  te::DagBuilder b;
  const te::Tensor a = b.placeholder("a", {24, 40}, kFloat32), w = b.placeholder("w", {64, 40}, kFloat32, te::Role::constant);
  const te::Tensor c =
      b.reduce("c", {24, 64}, {40}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return a(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({c});
}

}  // namespace

class PackingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Loops j.0, k.0, j.1, k.1, j.2 over w[j, k]: the array is walked in one run.
  void constantsLieAsTheyAreRead() {
    schedule::Builder b(dense());
    const int c = b.stage("c");
    const auto loops = b.loops(c);
    const auto j = b.split(c, loops[1], {2, 16}), k = b.split(c, loops[2], {4});
    b.reorder(c, {loops[0], j[0], k[0], j[1], k[1], j[2]});
    const schedule::Schedule s = std::move(b).finish().value();
    const schedule::Schedule packed = with_packed_constants(s);
    QCOMPARE(packed.steps().size(), s.steps().size() + 1);
    QVERIFY(packed.stages()[1].layout == (std::vector<LayoutStep::Piece>{{0, 0}, {1, 0}, {0, 2}, {1, 4}, {0, 16}}));
    QVERIFY(without_packing(*s.dag(), packed.steps()) == s.steps());
    QVERIFY(without_packing(*s.dag(), s.steps()) == s.steps());
    QVERIFY(with_packed_constants(packed).stages()[1].layout == packed.stages()[1].layout);
  }
  /// A tile that is computed inside another stage's loops reads w block by block of that stage: the blocks stay outermost, whatever the tile does inside.
  void loopsAroundTheTileCountFirst() {
    schedule::Builder b(dense());
    const int tile = b.cache_write(b.stage("c")), c = tile + 1;
    const auto loops = b.loops(c);
    const auto j = b.split(c, loops[1], {16});
    b.reorder(c, {j[0], loops[0], j[1]});
    b.compute_at(tile, c, loops[0]);
    const auto inner = b.loops(tile);
    const auto k = b.split(tile, inner[2], {4});
    b.reorder(tile, {inner[0], k[0], k[1], inner[1]});
    const schedule::Schedule packed = with_packed_constants(std::move(b).finish().value());
    QVERIFY(packed.stages()[1].layout == (std::vector<LayoutStep::Piece>{{0, 0}, {1, 0}, {1, 4}, {0, 16}}));
  }
  /// Of loops whose inner part runs outside there is no such run, and what nobody tiles is left alone.
  void othersStay() {
    schedule::Builder b(dense());
    const int c = b.stage("c");
    const auto loops = b.loops(c);
    const auto j = b.split(c, loops[1], {8});
    b.reorder(c, {loops[0], j[1], j[0], loops[2]});
    const schedule::Schedule s = std::move(b).finish().value();
    QVERIFY(with_packed_constants(s).steps() == s.steps());
    const schedule::Schedule plain(dense());
    QVERIFY(with_packed_constants(plain).steps().empty());
    const schedule::Schedule activations(dags::matmul(16, 16, 16));
    QVERIFY(with_packed_constants(activations).steps().empty());
  }
  /// What random schedules of all sketches compute does not depend on where constants lie.
  void resultsStay() {
    Target target;
    target.cores = 2;
    target.vector_bits = 256;
    int packed = 0;
    for (const auto& sample : tw::testing::sample_dags()) {
      const std::vector<Sketch> all = sketches(sample.dag, target);
      for (uint64_t seed = 0; seed < 12; ++seed) {
        Rng rng(seed);
        auto s = random_schedule(all[seed % all.size()], target, {}, rng);
        if (!s) continue;
        const size_t before = s->steps().size();
        s = with_packed_constants(*std::move(s));
        if (s->steps().size() == before) continue;
        const auto f = lower::lower_and_optimize(*s, "f", target);
        if (!f) continue;
        ++packed;
        const std::vector<HostArray> inputs = tw::testing::random_inputs(*sample.dag, rng);
        const auto want = te::interpret(*sample.dag, inputs).value();
        const auto got = tw::testing::run_scheduled(*s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(*f, args); });
        QVERIFY2(got, got ? "" : (sample.name + (": " + got.error().text())).c_str());
        QVERIFY2(tw::testing::largest_difference(*got, want) < 1e-4, sample.name);
      }
    }
    QVERIFY2(packed >= 20, qPrintable(QString::number(packed)));
  }
};

QTEST_APPLESS_MAIN(PackingTest)
#include "packing_test.moc"
