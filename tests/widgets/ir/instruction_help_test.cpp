// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/instruction_help.h"

#include <QtTest>

using namespace tw::widgets;

class InstructionHelpTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void linesOfAssemblyAreExplained_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("forGpu");
    QTest::addColumn<QString>("expected");
    QTest::newRow("fma") << "\tvfmadd231ps\t(%rax), %zmm0, %zmm1" << false << "16 lanes of float32";
    QTest::newRow("fma adds") << "vfmadd213pd ymm0, ymm1, ymmword ptr [rdi]" << false << "Multiplies and adds";
    QTest::newRow("memory") << "vaddps xmm0, xmm1, xmmword ptr [rdi + 16]" << false << "in memory";
    QTest::newRow("scalar") << "vmulss xmm0, xmm1, xmm2" << false << "one float32";
    QTest::newRow("jump") << "jne .LBB0_3  # loop" << false << "closes a loop";
    QTest::newRow("ptx") << "fma.rn.f32 %f3, %f1, %f2, %f3;" << true << "Multiplies and adds";
    QTest::newRow("ptx predicate") << "@%p1 bra $L__BB0_2;" << true << "Jumps";
    QTest::newRow("ptx shared") << "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];" << true << "shared memory";
    QTest::newRow("label") << ".LBB0_3:" << false << "";
    QTest::newRow("directive") << ".p2align 4" << false << "";
    QTest::newRow("comment") << "# %bb.0" << false << "";
    QTest::newRow("empty") << "" << true << "";
  }
  void linesOfAssemblyAreExplained() {
    QFETCH(QString, line);
    QFETCH(bool, forGpu);
    QFETCH(QString, expected);
    const QString help = instructionHelp(line, forGpu);
    QVERIFY2(expected.isEmpty() ? help.isEmpty() : help.contains(expected), qPrintable(help));
  }

  void kindsOfLoopsAreExplained() {
    QVERIFY(loopHelp(QStringLiteral("  for i in parallel(8):")).contains(QStringLiteral("cores")));
    QVERIFY(loopHelp(QStringLiteral("for j.inner vectorized 16")).contains(QStringLiteral("vector instructions")));
    QVERIFY(loopHelp(QStringLiteral("for k in range(4):")).contains(QStringLiteral("one after another")));
    QVERIFY(loopHelp(QStringLiteral("y[i] = 0")).isEmpty());
  }
};

QTEST_APPLESS_MAIN(InstructionHelpTest)
#include "instruction_help_test.moc"
