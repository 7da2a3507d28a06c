// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/workspace.h"

#include <QtTest>
#include <algorithm>
#include <cstdint>

using namespace tw::runtime;

class WorkspaceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void arraysAreAlignedAndZero_data() {
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<quint64>("align");
    constexpr qint64 kHuge = qint64{2} << 20;
    QTest::newRow("none") << qint64{0} << quint64{64};
    QTest::newRow("small") << qint64{100} << quint64{64};
    QTest::newRow("just below a huge page") << kHuge - 1 << quint64{64};
    QTest::newRow("a huge page") << kHuge << quint64{kHuge};
    QTest::newRow("a bit more") << kHuge + 1 << quint64{kHuge};
    QTest::newRow("several") << 5 * kHuge - 4096 << quint64{kHuge};
  }
  void arraysAreAlignedAndZero() {
    QFETCH(qint64, bytes);
    QFETCH(quint64, align);
    for (int i = 0; i < 3; ++i) {  // what was freed before must not come back dirty
      const AlignedBytes memory = allocate_aligned(bytes);
      QVERIFY(memory);
      QCOMPARE(reinterpret_cast<uintptr_t>(memory.get()) % align, uintptr_t{0});
      QVERIFY(std::all_of(memory.get(), memory.get() + bytes, [](std::byte b) { return b == std::byte{0}; }));
      std::fill_n(memory.get(), bytes, std::byte{1});
    }
  }

  void whatNoMachineHasIsRefused() { QVERIFY(!allocate_aligned(int64_t{1} << 60)); }
};

QTEST_APPLESS_MAIN(WorkspaceTest)
#include "workspace_test.moc"
