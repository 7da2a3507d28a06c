// SPDX-License-Identifier: Apache-2.0
#include "engine/te/loads.h"

#include <QtTest>

using namespace tw;

/// Reads that are certainly inside their arrays, and those that may not be.
class LoadsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reads_data() {
    QTest::addColumn<QString>("body");
    QTest::addColumn<QString>("says");
    QTest::newRow("whole") << "A[i, j]" << "";
    QTest::newRow("behind the end") << "A[i, j + 1]" << "Expected index 2 of 'A' from 0 to 7, found j + 1, which may be from 1 to 8";
    QTest::newRow("before the start") << "A[i - 1, j]" << "which may be from -1 to 2";
    QTest::newRow("limited") << "A[max(i - 1, 0), min(j + 3, 7)]" << "";
    QTest::newRow("selected") << "select(0 < i and j < 7, A[i - 1, j + 1], A[i, j])" << "";
    QTest::newRow("selected by what does not help") << "select(i < 3, A[i - 1, j], A[i, j])" << "from -1 to 2";
    QTest::newRow("the other branch") << "select(j == 7, A[i, 0], A[i, j])" << "";
    QTest::newRow("joined and taken apart") << "A[(i * 8 + j) // 8, (i * 8 + j) % 8]" << "";
    QTest::newRow("an array's numbers") << "A[P[i], j]" << "any number";
    QTest::newRow("limited numbers") << "A[max(0, min(P[i], 3)), j]" << "";
    QTest::newRow("the condition itself") << "select(A[i + 1, j] < float32(0), A[i, j], A[i, j])" << "from 1 to 4";
  }
  void reads() {
    QFETCH(QString, body);
    QFETCH(QString, says);
    const auto dag = te::parse_dag("A: float32[4, 8] = placeholder()\nP: int64[4] = placeholder()\nB: float32[4, 8] = compute(i, j)\n    " + body.toStdString() + "\noutputs(B)\n");
    QVERIFY2(dag.has_value(), dag ? "" : dag.error().text().c_str());
    const auto inside = te::check_loads(**dag);
    QCOMPARE(inside.has_value(), says.isEmpty());
    if (inside) return;
    QVERIFY2(QString::fromStdString(inside.error().message).contains(says), inside.error().message.c_str());
    QCOMPARE(inside.error().where, std::string("op 'B'"));
  }
};

QTEST_APPLESS_MAIN(LoadsTest)
#include "loads_test.moc"
