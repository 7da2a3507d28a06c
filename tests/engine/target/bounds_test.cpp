// SPDX-License-Identifier: Apache-2.0
#include "engine/target/bounds.h"

#include <QtTest>

using namespace tw;

class BoundsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void processors_by_their_vectors_and_cores() {
    const Target one = parse_target("llvm -mcpu=znver4 -num-cores=1").value(), two = parse_target("llvm -mcpu=znver4 -num-cores=2").value();
    const Target old = parse_target("llvm -mcpu=x86-64 -num-cores=1").value();
    QCOMPARE(target::most_flops(two), 2 * target::most_flops(one));
    QCOMPARE(target::most_flops(one) / target::most_flops(old), static_cast<double>(one.vector_bits) / old.vector_bits);
    QVERIFY(target::most_flops(one) > 2 * 2 * 16 * 5.7e9);  // the fastest clock of such a processor so far
    QVERIFY(target::most_stored_bytes_per_s(one) > 64 * 5.7e9);
    QVERIFY(target::most_narrow_speedup(one) > 32);
  }
  void cards_by_the_table() {
    const Target a100 = parse_target("cuda:a100").value();
    QVERIFY(target::most_flops(a100) > 19.5e12 && target::most_flops(a100) < 30e12);  // the data sheet's number, and nothing absurd
    QVERIFY(target::most_narrow_speedup(a100) >= 16);
    QVERIFY(target::most_stored_bytes_per_s(a100) > a100.gpu->l2_bytes_per_s);
  }
};

QTEST_APPLESS_MAIN(BoundsTest)
#include "bounds_test.moc"
