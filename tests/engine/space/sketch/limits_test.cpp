// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/limits.h"

#include <QtTest>

#include "tests/engine/lower/gpu_schedules.h"

using namespace tw;

class LimitsTest : public QObject {
  Q_OBJECT

  static std::string refusal(const schedule::Schedule& s) {
    const auto checked = space::check_limits(s, parse_target("cuda:a100").value());
    return checked ? "" : checked.error().message;
  }

 private Q_SLOTS:
  void whatFitsIsAllowed() {
    for (const tw::testing::GpuSchedule& g : tw::testing::gpu_schedules()) QCOMPARE(refusal(g.schedule), std::string());
  }
  void whatDoesNotIsNamed() {
    tw::testing::MatmulKnobs wide{.m = 4096, .n = 4096, .k = 64, .ty = 64, .tx = 32};
    QCOMPARE(refusal(tw::testing::tiled_matmul(wide).finish().value()), std::string("Expected 1024 threads in a block of 'C' at most, found 2048"));
    tw::testing::MatmulKnobs deep{.m = 4096, .n = 4096, .k = 4096, .ty = 16, .iy = 4, .tx = 16, .ix = 4, .ko = 256};
    const std::string found = refusal(tw::testing::tiled_matmul(deep).finish().value());
    QVERIFY2(found.starts_with("Expected 166912 bytes of shared memory in a block of 'C' at most, found "), found.c_str());
    QVERIFY(space::check_limits(tw::testing::tiled_matmul(wide).finish().value(), Target()));  // of processors there are none
  }
};

QTEST_APPLESS_MAIN(LimitsTest)
#include "limits_test.moc"
