// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "engine/base/float_format.h"
#include "engine/base/host_array.h"

using namespace tw;

/// Narrow floating-point formats: what their codes stand for.
class FloatFormatTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void known_numbers_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<double>("smallest");
    QTest::addColumn<double>("largest");
    QTest::addColumn<double>("one");
    // From the tables of the formats' papers.
    QTest::newRow("e4m3fn") << "float8e4m3fn" << std::ldexp(1.0, -9) << 448.0 << 0x38 * 1.0;
    QTest::newRow("e4m3fnuz") << "float8e4m3fnuz" << std::ldexp(1.0, -10) << 240.0 << 0x40 * 1.0;
    QTest::newRow("e5m2") << "float8e5m2" << std::ldexp(1.0, -16) << 57344.0 << 0x3c * 1.0;
    QTest::newRow("e5m2fnuz") << "float8e5m2fnuz" << std::ldexp(1.0, -17) << 57344.0 << 0x40 * 1.0;
    QTest::newRow("e8m0") << "float8e8m0" << std::ldexp(1.0, -126) << std::ldexp(1.0, 127) << 127.0;
    QTest::newRow("e2m3") << "float6e2m3" << 0.125 << 7.5 << 0x08 * 1.0;
    QTest::newRow("e3m2") << "float6e3m2" << 0.0625 << 28.0 << 0x0c * 1.0;
    QTest::newRow("e2m1") << "float4e2m1" << 0.5 << 6.0 << 0x02 * 1.0;
    QTest::newRow("half") << "float16" << std::ldexp(1.0, -24) << 65504.0 << 0x3c00 * 1.0;
  }
  void known_numbers() {
    QFETCH(QString, format);
    QFETCH(double, smallest);
    QFETCH(double, largest);
    QFETCH(double, one);
    const FloatFormat* f = find_float_format(format.toStdString());
    QVERIFY(f);
    QCOMPARE(static_cast<double>(f->decode(1)), smallest);
    QCOMPARE(static_cast<double>(f->decode(f->largest())), largest);
    QCOMPARE(static_cast<double>(f->decode(static_cast<uint32_t>(one))), 1.0);
  }

  void codes_are_in_order() {
    for (const FloatFormat& f : float_formats()) {
      for (uint32_t c = 0; c < f.largest(); ++c) QVERIFY2(f.decode(c) < f.decode(c + 1), f.name);
      if (!f.is_signed()) continue;
      const uint32_t sign = f.magnitude_mask() + 1;
      for (uint32_t c = 1; c <= f.largest(); ++c) QCOMPARE(f.decode(sign | c), -f.decode(c));
    }
  }

  void sixteen_bits_agree_with_arrays() {
    for (const DType t : {kFloat16, kBFloat16}) {
      const FloatFormat* f = find_float_format(t.name());
      HostArray a = HostArray::make(t, {1 << 16});
      for (uint32_t c = 0; c < 1 << 16; ++c) {
        a.data[2 * c] = static_cast<std::byte>(c & 255);
        a.data[2 * c + 1] = static_cast<std::byte>(c >> 8);
      }
      for (uint32_t c = 0; c < 1 << 16; ++c) {
        const double want = a.get(c), got = f->decode(c);
        QVERIFY2((std::isnan(want) && std::isnan(got)) || (want == got && std::signbit(want) == std::signbit(got)), qPrintable(QString::number(c, 16)));
      }
    }
  }
};

QTEST_APPLESS_MAIN(FloatFormatTest)
#include "float_format_test.moc"
