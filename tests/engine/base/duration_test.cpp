// SPDX-License-Identifier: Apache-2.0
#include "engine/base/duration.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"

using namespace tw;

class DurationTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void parses() {
    const std::pair<const char*, double> good[] = {{"90", 90},    {"90s", 90},     {"30m", 1800}, {"1h30m", 5400}, {"0.5s", 0.5},
                                                   {"5ms", 0.005}, {"200us", 2e-4}, {"0", 0},      {"1m5ms", 60.005}};
    for (const auto& [text, seconds] : good) QCOMPARE(parse_duration(text).value(), seconds);
    for (const char* text : {"", "m", "-3s", "3x", "inf", "nan", "1h junk", "5 ms", "90 90"}) QVERIFY2(!parse_duration(text).has_value(), text);
  }

  void writesOneUnit() {
    const std::pair<double, const char*> texts[] = {{0, "0"}, {90, "90s"}, {60, "60s"}, {1800, "30m"}, {7200, "2h"}, {5400, "90m"}, {0.005, "5ms"}, {2e-4, "200us"}};
    for (const auto& [seconds, text] : texts) QCOMPARE(QString::fromStdString(duration_text(seconds)), QString::fromLatin1(text));
  }

  void whatIsWrittenIsReadBack() {
    Rng rng(7);
    for (int i = 0; i < 2000; ++i) {
      const double seconds = std::pow(10.0, rng.uniform_real() * 12 - 7);
      QCOMPARE(parse_duration(duration_text(seconds)).value(), seconds);
    }
    for (int i = 1; i < 5000; ++i) QCOMPARE(parse_duration(duration_text(i)).value(), static_cast<double>(i));
  }
};

QTEST_APPLESS_MAIN(DurationTest)
#include "duration_test.moc"
