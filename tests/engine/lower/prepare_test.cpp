// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/prepare.h"

#include <QtTest>

#include "tests/engine/lower/lowered_check.h"
#include "tests/engine/lower/random_pipelines.h"

using namespace tw;

namespace {

/// Paddings of a stage whose tests still stand in its definition.
size_t tested(const schedule::Stage& st) {
  size_t n = 0;
  for (const schedule::Padding& p : st.paddings) {
    bool found = false;
    ir::walk(*st.op.body, [&](const ir::Expr& e) {
      const auto* lt = ir::as<ir::BinaryNode>(e);
      found = found || (lt && lt->op == ir::BinaryOp::lt && lt->a.get() == p.axis.get() && ir::is_int(lt->b, p.extent));
    });
    n += found;
  }
  return n;
}

}  // namespace

/// Padded axes: surplus elements are computed like the rest where that does no harm, and are tested for where it would.
class PrepareTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void testsOfPaddingsAreLeftOutWhereNothingIsHarmed() {
    constexpr int kPipelines = 2500;
    size_t kept = 0, dropped = 0;
    for (int seed = 0; seed < kPipelines; ++seed) {
      const te::DagPtr dag = testing::RandomPipeline(static_cast<uint64_t>(seed) + 100000).make();
      Rng rng(static_cast<uint64_t>(seed) * 17 + 3);
      schedule::Schedule s(dag);
      for (int k = 0; k < static_cast<int>(s.stages().size()); ++k)
        for (size_t l = 0; l < s.stages()[static_cast<size_t>(k)].iters.size(); ++l)
          if (rng.uniform(2) == 0)
            if (auto padded = s.apply(schedule::PadStep{k, static_cast<int>(l), rng.range(2, 6)})) s = *std::move(padded);
      for (int more = seed % 4; more > 0; --more)
        if (auto next = s.apply(testing::random_step(s, rng))) s = *std::move(next);
      const std::vector<HostArray> inputs = testing::random_inputs(*dag, rng);
      const auto want = te::interpret(*dag, inputs);
      QVERIFY2(want, want ? "" : (want.error().text() + "\n" + te::print(*dag)).c_str());
      const auto wrong = testing::wrong_when_lowered(s, inputs, *want);
      if (!wrong) continue;
      QVERIFY2(wrong->empty(), fmt::format("seed {}: {}\n{}\n{}", seed, *wrong, schedule::print_steps(s), te::print(*dag)).c_str());
      const std::vector<schedule::Stage> stages = lower::prepared_stages(s).value();
      for (const schedule::Stage& st : stages) {
        if (st.paddings.empty() || !st.op.body || st.location == schedule::ComputeLocation::inlined) continue;
        kept += tested(st);
        dropped += st.paddings.size() - tested(st);
      }
    }
    QVERIFY2(kept > 300 && dropped > 300, fmt::format("{} kept, {} dropped", kept, dropped).c_str());
  }

  /// Of a product only the factor that would be read outside is tested for: what is added up remains a multiply-add.
  void testsStandAroundTheFactorThatNeedsThem() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {5, 7}, kFloat32), w = b.placeholder("w", {7, 3}, kFloat32);
    const te::Tensor y = b.reduce("y", {5, 3}, {7}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
    const te::Tensor z = b.compute("z", {5, 3}, [&](const te::Indices& i) { return y(i[0], i[1]) + ir::fimm(kFloat32, 1); });
    const schedule::Schedule s(std::move(b).finish({z}));
    const auto body = [&](int axis) { return lower::prepared_stages(s.apply(schedule::PadStep{2, axis, 4}).value()).value()[2].op.body; };
    for (const int axis : {0, 1}) {
      const ir::Expr value = *body(axis);
      const auto* product = ir::as<ir::BinaryNode>(value);
      QVERIFY(product && product->op == ir::BinaryOp::mul);
      QCOMPARE(ir::as<ir::SelectNode>(product->a) != nullptr, axis == 0);
      QCOMPARE(ir::as<ir::SelectNode>(product->b) != nullptr, axis == 1);
    }
  }

  /// The padding of a last block is computed like the rest only where all that is read for it exists.
  void lastBlocksAreFilledWhereTheirOperandsArePadded() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {10, 3}, kFloat32), s = b.placeholder("s", {10}, kFloat32, te::Role::constant);
    const te::Tensor y = b.compute("y", {10, 3}, [&](const te::Indices& i) { return x(i[0], i[1]) * s(i[0]); });
    const te::DagPtr dag = std::move(b).finish({y});
    const schedule::LayoutStep blocks_x{0, {{0, 0}, {1, 0}, {0, 4}}}, blocks_s{1, {{0, 0}, {0, 4}}}, blocks_y{2, {{0, 0}, {1, 0}, {0, 4}}};
    const auto rows = [&](const std::vector<schedule::Step>& steps) {
      return lower::prepared_stages(schedule::Schedule::replay(dag, steps).value()).value()[2].op.axes[0].extent;
    };
    QCOMPARE(rows({blocks_x, blocks_s, blocks_y}), int64_t{12});
    QCOMPARE(rows({blocks_x, blocks_y}), int64_t{10});
    QCOMPARE(rows({blocks_s, blocks_y}), int64_t{10});
    QCOMPARE(rows({blocks_x, blocks_s}), int64_t{10});
  }
};

QTEST_APPLESS_MAIN(PrepareTest)
#include "prepare_test.moc"
