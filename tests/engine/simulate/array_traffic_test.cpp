// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/array_traffic.h"

#include <QtTest>

using namespace tw;
using simulate::ArraysTouched;
using simulate::ArrayTraffic;

/// Bytes that can be counted by hand.
class ArrayTrafficTest : public QObject {
  Q_OBJECT

  static simulate::WarpPath one_block() { return simulate::WarpPath(tir::Launch{.body = tir::nop()}); }

 private Q_SLOTS:
  /// Accesses touch no more than what lies between the first and the last element of all turns of the loops, however often they are made.
  void elements_are_counted_once() {
    const ir::Buffer x = ir::make_buffer("x", kFloat32, {100});
    const ir::Var i = ir::make_var("i");
    simulate::WarpPath path = one_block();
    path.loops.push_back({i.get(), 1, 8, 0, false, false, nullptr});
    const simulate::Place place = simulate::place_of(x, {ir::to_expr(i) + 10}, kFloat32);
    for (int times = 1; times <= 3; ++times) {
      ArraysTouched touched;
      for (int k = 0; k < times; ++k) touched.add(x, place, {i.get()}, path);
      const ArrayTraffic t = touched.traffic().at(0);
      QCOMPARE(t.bytes, int64_t{8 * 4});
      QCOMPARE(t.block_bytes, int64_t{8 * 4});
    }
  }
  void an_array_of_one_element() {
    const ir::Buffer x = ir::make_buffer("x", kFloat64, {});
    const simulate::Place place = simulate::place_of(x, {}, kFloat64);
    QVERIFY(ir::is_int(place.base, 0));
    QCOMPARE(place.bytes, 8);
    QCOMPARE(place.pieces, 1);
    ArraysTouched touched;
    touched.add(x, place, {}, one_block());
    QCOMPARE(touched.traffic().at(0).bytes, int64_t{8});
  }
};

QTEST_APPLESS_MAIN(ArrayTrafficTest)
#include "array_traffic_test.moc"
