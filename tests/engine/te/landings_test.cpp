// SPDX-License-Identifier: Apache-2.0
#include "engine/te/landings.h"

#include <QtTest>

using namespace tw;
using namespace tw::te;

/// Reductions whose terms say where they count.
class LandingsTest : public QObject {
  Q_OBJECT

  using Indices = std::vector<ir::Expr>;
  /// [16, 20, 24] of 30 updates in rows of 24, each at a row and a column that `at` says.
  static DagPtr updates(const std::function<ir::Expr(const Tensor& at, const Indices& o, const Indices& r)>& hits) {
    DagBuilder b;
    const Tensor at = b.placeholder("at", {30, 2}, kInt64), rows = b.placeholder("rows", {30, 24}, kFloat32);
    const Tensor sum = b.reduce("sum", {16, 20, 24}, {30}, Reducer::sum,
                                [&](const Indices& o, const Indices& r) { return ir::select(hits(at, o, r), rows(r[0], o[2]), ir::zero(kFloat32)); });
    return std::move(b).finish({sum});
  }
  static std::optional<Landings> of(const DagPtr& dag) { return landings_of(dag->ops[static_cast<size_t>(dag->outputs.front())]); }

 private Q_SLOTS:
  void placesThatTermsName() {
    const DagPtr dag = updates([](const Tensor& at, const Indices& o, const Indices& r) {
      return ir::equal(at(r[0], ir::index(0)), o[0]) && ir::equal(o[1], at(r[0], ir::index(1)));
    });
    const auto found = of(dag);
    QVERIFY(found);
    QVERIFY(found->places == (std::vector<size_t>{0, 1}));
    QVERIFY(found->same_for_last);
    // Each of 30 x 24 elements is compared with its place and added there, wherever that is.
    QCOMPARE(flops(*dag), int64_t{30 * 24 * 3});
  }
  void aPlaceForEachElement() {
    const auto found =
        of(updates([](const Tensor& at, const Indices& o, const Indices& r) { return ir::equal(at(r[0], ir::floor_mod(o[2], ir::index(2))), o[1]); }));
    QVERIFY(found && found->places == std::vector<size_t>{1} && !found->same_for_last);
  }
  void othersHaveNone() {
    QVERIFY(!of(updates([](const Tensor& at, const Indices& o, const Indices& r) { return at(r[0], ir::index(0)) < o[0]; })));
    QVERIFY(!of(updates([](const Tensor& at, const Indices& o, const Indices& r) { return ir::equal(at(r[0], ir::index(0)) + o[0], o[0]); })));
  }
};

QTEST_APPLESS_MAIN(LandingsTest)
#include "landings_test.moc"
