// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/share.h"

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/space/template.h"

using namespace tw;
using te::Indices;
using te::Tensor;

/// Which functions may work in place.
class ShareTest : public QObject {
  Q_OBJECT

  using Make = Tensor (*)(te::DagBuilder&, const Tensor& x, const Tensor& y);
  static tir::Func lowered(Make make, const std::vector<int64_t>& shape, bool by_rule) {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", shape, kFloat32), y = b.placeholder("y", shape, kFloat32);
    const te::DagPtr dag = std::move(b).finish({make(b, x, y)});
    const Target target = host_target();
    const schedule::Schedule s = by_rule ? space::default_schedule(dag, target) : schedule::Schedule(dag);
    return lower::lower_and_optimize(s, "f", target).value();
  }

 private Q_SLOTS:
  void rows_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("over_x");
    QTest::addColumn<bool>("over_y");
    QTest::newRow("sum") << 0 << true << true;
    QTest::newRow("one element, and its mirror image") << 1 << true << false;
    QTest::newRow("transposed") << 2 << false << true;
    QTest::newRow("mean of a row") << 3 << false << true;
    QTest::newRow("product of matrices") << 4 << false << false;
    QTest::newRow("the same element twice") << 5 << true << true;
  }
  void rows() {
    QFETCH(int, kind);
    QFETCH(bool, over_x);
    QFETCH(bool, over_y);
    static const Make kMake[] = {
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) { return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) + y.at(i); }); },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) + y(i[0], ir::index(x.shape()[1] - 1) - i[1]); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x(i[1], i[0]) * y.at(i); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          const Tensor sum =
              b.reduce("sum", {x.shape()[0]}, {x.shape()[1]}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
          return b.compute("f", x.shape(), [&](const Indices& i) { return sum(i[0]) - y.at(i); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.reduce("f", x.shape(), {x.shape()[1]}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * y(r[0], s[1]); });
        },
        [](te::DagBuilder& b, const Tensor& x, const Tensor& y) {
          return b.compute("f", x.shape(), [&](const Indices& i) { return x.at(i) * x.at(i) + y.at(i); });
        },
    };
    for (const bool by_rule : {false, true}) {
      const tir::Func f = lowered(kMake[kind], {32, 32}, by_rule);
      QCOMPARE(tir::may_share_storage(f, 0, 2), over_x);
      QCOMPARE(tir::may_share_storage(f, 1, 2), over_y);
    }
  }

  void sizesMustAgree() {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {1, 32}, kFloat32), y = b.placeholder("y", {4, 32}, kFloat32), h = b.placeholder("h", {4, 32}, kFloat16);
    const Tensor f = b.compute("f", {4, 32}, [&](const Indices& i) { return x(ir::index(0), i[1]) + y.at(i) + ir::cast(kFloat32, h.at(i)); });
    const tir::Func func = lower::lower_and_optimize(schedule::Schedule(std::move(b).finish({f})), "f", host_target()).value();
    QVERIFY(!tir::may_share_storage(func, 0, 3));
    QVERIFY(tir::may_share_storage(func, 1, 3));
    QVERIFY(!tir::may_share_storage(func, 2, 3));
  }
};

QTEST_APPLESS_MAIN(ShareTest)
#include "share_test.moc"
