// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/derived_constants.h"

#include <QtTest>

#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;

class DerivedConstantsTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static HostArray numbered(Dims shape) {
    HostArray a = HostArray::make(kFloat32, std::move(shape));
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(i));
    return a;
  }

 private Q_SLOTS:
  void smallOnesAreThere() {
    const HostArray a = numbered({2, 3}), t = transposed(a, {1, 0}), j = joined({a, numbered({2, 1})}, 1);
    QVERIFY(!derivation_of(t) && !derivation_of(j));
    QCOMPARE(t.shape, (Dims{3, 2}));
    QCOMPARE(t.get(1), 3.0);
    QCOMPARE(j.shape, (Dims{2, 4}));
    QCOMPARE(j.get(3), 0.0);
    QCOMPARE(j.get(7), 1.0);
  }

  /// Large ones are as they would be, once somebody reads them; nothing is made of them before.
  void largeOnesAreMadeLater() {
    const HostArray a = numbered({3, 700, 300});
    const Dims perm{2, 0, 1};
    const HostArray t = transposed(a, perm);
    QCOMPARE(t.shape, (Dims{300, 3, 700}));
    const Derivation* d = derivation_of(t);
    QVERIFY(d && d->kind == Derivation::Kind::transposed && d->numbers == perm);
    QVERIFY(d->of[0].data == a.data);
    for (const int64_t i : {0, 1, 2}) QCOMPARE(t.get((7 * 3 + i) * 700 + 41), a.get((i * 700 + 41) * 300 + 7));
    const HostArray j = joined({a, a}, 1);
    QCOMPARE(j.shape, (Dims{3, 1400, 300}));
    QVERIFY(derivation_of(j));
    QCOMPARE(j.get((1 * 1400 + 700 + 5) * 300 + 9), a.get((1 * 700 + 5) * 300 + 9));
  }

  void turnedBackIsTheFirst() {
    const HostArray a = numbered({600, 500});
    const HostArray back = transposed(transposed(a, {1, 0}), {1, 0});
    QVERIFY(!derivation_of(back));
    QCOMPARE(std::as_const(back.data).data(), std::as_const(a.data).data());
    const HostArray cube = numbered({60, 50, 100}), twice = transposed(transposed(cube, {1, 2, 0}), {0, 2, 1});
    QCOMPARE(derivation_of(twice)->numbers, (Dims{1, 0, 2}));
    QCOMPARE(twice.get((3 * 60 + 4) * 100 + 5), cube.get((4 * 50 + 3) * 100 + 5));
    // Given another shape in between, the turns are no longer those of one array.
    HostArray flat = transposed(a, {1, 0});
    flat.shape = {250, 1200};
    const HostArray other = transposed(flat, {1, 0});
    QCOMPARE(other.get(2), flat.get(2 * 1200));
  }

  void keysTellThemApart() {
    const HostArray a = numbered({600, 500}), b = transposed(a, {1, 0});
    HostArray again = numbered({600, 500});
    QCOMPARE(constant_key(b), constant_key(transposed(again, {1, 0})));
    QVERIFY(constant_key(b) != constant_key(a));
    again.set(0, -1);
    QVERIFY(constant_key(b) != constant_key(transposed(again, {1, 0})));
    QVERIFY(constant_key(joined({a, a}, 0)) != constant_key(joined({a, again}, 0)));
  }

  void whatDoesNotFitIsNotDerived() {
    const HostArray a = numbered({2, 3}), b = numbered({2, 4});
    using Kind = Derivation::Kind;
    QVERIFY(derived({Kind::transposed, {a}, {1, 0}}).has_value());
    QVERIFY(derived({Kind::joined, {a, b}, {1}}).has_value());
    for (const Derivation& d : {Derivation{Kind::transposed, {}, {}}, {Kind::transposed, {a}, {0}}, {Kind::transposed, {a}, {0, 0}}, {Kind::transposed, {a}, {0, 2}},
                                {Kind::transposed, {a, a}, {1, 0}}, {Kind::joined, {}, {0}}, {Kind::joined, {a, b}, {0}}, {Kind::joined, {a}, {2}}, {Kind::joined, {a}, {-1}},
                                {Kind::joined, {a}, {}}, {Kind::joined, {a, numbered({6})}, {0}}})
      QVERIFY(!derived(d));
  }
};

QTEST_APPLESS_MAIN(DerivedConstantsTest)
#include "derived_constants_test.moc"
