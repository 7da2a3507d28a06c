// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/core_latency.h"

#include <sched.h>

#include <QtTest>

using tw::measure::core_latency_s;

class CoreLatencyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void twoProcessorsAnswer() {
    cpu_set_t before;
    QCOMPARE(sched_getaffinity(0, sizeof before, &before), 0);
    std::vector<int> allowed;
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &before)) allowed.push_back(i);
    if (allowed.size() < 2) QSKIP("one processor only");
    const double seconds = core_latency_s(allowed[0], allowed[1]);
    QVERIFY2(seconds > 1e-10 && seconds < 1, qPrintable(QString::number(seconds)));
    cpu_set_t after;
    QCOMPARE(sched_getaffinity(0, sizeof after, &after), 0);
    QVERIFY(CPU_EQUAL(&before, &after));
  }

  void missingProcessorGivesZero() {
    QCOMPARE(core_latency_s(0, CPU_SETSIZE - 1), 0.0);
    QCOMPARE(core_latency_s(CPU_SETSIZE - 1, 0), 0.0);
  }
};

QTEST_APPLESS_MAIN(CoreLatencyTest)
#include "core_latency_test.moc"
