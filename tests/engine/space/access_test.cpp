// SPDX-License-Identifier: Apache-2.0
#include "engine/space/access.h"

#include <QtTest>

#include "engine/schedule/schedule.h"
#include "tests/engine/lower/sample_dags.h"

using namespace tw;
using space::Access;
namespace dags = tw::testing::dags;

namespace {

schedule::Schedule with(const te::DagPtr& dag, const std::vector<schedule::Step>& steps = {}) { return schedule::Schedule::replay(dag, steps).value(); }
bool tiles(const te::DagPtr& dag, const char* stage, bool exact = true) {
  const schedule::Schedule s = with(dag);
  return Access(s.stages()).needs_tiling(s.find(stage), exact);
}

}  // namespace

class AccessTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatIsUsedAgainIsTiled() {
    QVERIFY(tiles(dags::matmul(8, 8, 8), "matmul"));
    QVERIFY(tiles(dags::matrix_vector(), "dense"));  // an axis of one element is none
    QVERIFY(tiles(dags::conv_nhwc(), "conv2d"));
    QVERIFY(tiles(dags::depthwise(), "depthwise"));
    QVERIFY(tiles(dags::outer_product(), "outer"));
    QVERIFY(!tiles(dags::conv_nhwc(), "pad") && !tiles(dags::conv_nhwc(), "relu"));
    QVERIFY(!tiles(dags::softmax(), "sum") && !tiles(dags::relu_pool(), "max_pool") && !tiles(dags::row_min(), "min"));
    QVERIFY(!tiles(dags::small_transforms(), "transform"));
    QVERIFY(!tiles(dags::matmul(8, 8, 8), "a"));
    // A norm reads four arrays that lack axes, and goes through one that lacks none.
    QVERIFY(tiles(dags::layer_norm(), "norm", true) && !tiles(dags::layer_norm(), "norm", false));
    QVERIFY(tiles(dags::outer_product(), "outer", false));
  }
  void whatIsCheapIsInlined() {
    const auto inlineable = [](const te::DagPtr& dag, const char* stage) {
      const schedule::Schedule s = with(dag);
      return Access(s.stages()).is_strictly_inlineable(s.find(stage));
    };
    QVERIFY(inlineable(dags::conv_nhwc(), "bias_add") && inlineable(dags::conv_nhwc(), "relu"));
    QVERIFY(!inlineable(dags::conv_nhwc(), "pad"));              // chooses
    QVERIFY(!inlineable(dags::softmax(), "exp"));                // costs
    QVERIFY(!inlineable(dags::transpose_reshape(), "transpose"));  // another order
    QVERIFY(!inlineable(dags::transpose_reshape(), "reshape"));    // no axis of its own
    QVERIFY(!inlineable(dags::conv_nhwc(), "x"));
    QVERIFY(inlineable(dags::broadcast_add(), "add"));  // a missing axis is none too many
  }
  /// Inlined stages are looked through, except for what a body reads itself.
  void neighbours() {
    const schedule::Schedule s = with(dags::softmax(), {schedule::ComputeInlineStep{2}});  // 0 x, 1 max, 2 exp, 3 sum, 4 softmax
    const Access a(s.stages());
    QCOMPARE(a.consumers(1), (std::set<int>{3, 4}));
    QCOMPARE(a.producers(4), (std::set<int>{0, 1, 3}));
    QCOMPARE(a.direct_producers(4), (std::set<int>{2, 3}));
    QCOMPARE(a.single_consumer(3), 4);
    QCOMPARE(a.single_consumer(4), -1);
    QCOMPARE(a.single_consumer(1), -1);
    const schedule::Schedule inside = with(dags::softmax(), {schedule::ComputeInlineStep{2}, schedule::ComputeAtStep{3, 4, 0}});
    QCOMPARE(Access(inside.stages()).single_consumer(1), 4);  // where the sum is computed too
  }
  void howFarLoopsGoInStep() {
    const schedule::Schedule s = with(dags::softmax());
    const Access a(s.stages());
    QCOMPARE(a.common_outer(1, 4), 1);
    QCOMPARE(a.common_outer(2, 4), 1);  // the way through the sum
    QCOMPARE(a.common_outer(3, 4), 1);
    QCOMPARE(a.common_outer(4, 1), 0);  // no way
    const schedule::Schedule c = with(dags::conv_nhwc());
    QCOMPARE(Access(c.stages()).common_outer(c.find("conv2d"), c.find("relu")), 4);
    QCOMPARE(Access(c.stages()).common_outer(c.find("pad"), c.find("conv2d")), 1);
    QCOMPARE(Access(c.stages()).common_outer(c.find("pad"), c.find("relu")), 1);
  }
  void elementByElement() {
    const schedule::Schedule c = with(dags::conv_nhwc());
    const Access a(c.stages());
    QVERIFY(a.elementwise_match(c.find("conv2d"), c.find("relu")));
    QVERIFY(!a.elementwise_match(c.find("pad"), c.find("conv2d")));
    const schedule::Schedule row = with(dags::row_with_bias());  // its one row is read as row 0
    QVERIFY(Access(row.stages()).elementwise_match(row.find("dense"), row.find("relu")));
    QCOMPARE(Access(row.stages()).common_outer(row.find("dense"), row.find("relu")), 2);
    const schedule::Schedule g = with(dags::gelu_of_product());
    QVERIFY(!Access(g.stages()).elementwise_match(g.find("matmul"), g.find("gelu")));  // read twice
  }
  /// As steps have made them.
  void cachesAreStages() {
    const schedule::Schedule s = with(dags::matmul(8, 8, 8), {schedule::CacheWriteStep{2, "local"}, schedule::CacheReadStep{0, "shared", {2}}});
    const Access a(s.stages());
    QVERIFY(a.needs_tiling(s.find("matmul_local"), true) && !a.needs_tiling(s.find("matmul"), true));
    QVERIFY(a.elementwise_match(s.find("matmul_local"), s.find("matmul")));
    QCOMPARE(a.consumers(s.find("w")), (std::set<int>{s.find("w_shared")}));
  }
};

QTEST_APPLESS_MAIN(AccessTest)
#include "access_test.moc"
