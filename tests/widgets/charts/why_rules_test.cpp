// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>

#include "widgets/charts/footprint_chart.h"
#include "widgets/charts/launch_chart.h"
#include "widgets/charts/roofline_chart.h"
#include "widgets/charts/why_rules.h"

using namespace tw;
using namespace tw::widgets;

namespace {

WhyFacts product() {
  WhyFacts f;
  f.seconds = 1e-3, f.flops = 1e8, f.compulsoryBytes = 1e5, f.vectorLanes = 16;
  f.peak = 2e11, f.memoryBytesPerS = 2e10;
  f.target.vector_bits = 512, f.target.cores = 2, f.target.l1d_bytes = 32 << 10, f.target.l2_bytes = 1 << 20;
  f.usedVectorBits = 512;
  f.loops = {{QStringLiteral("i"), true, false, 8, 1, 2e6}, {QStringLiteral("j"), false, false, 16, 8, 1e5}, {QStringLiteral("k"), false, false, 32, 128, 1e4}};
  return f;
}

QString textOf(const std::vector<WhyRule>& rules) {
  QStringList all;
  for (const WhyRule& r : rules) all << r.sentence + QStringLiteral(" | ") + r.formula;
  return all.join(QLatin1Char('\n'));
}

}  // namespace

class WhyTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rulesFollowFromTheFacts() {
    const QString text = textOf(whyRules(product()));
    // 1e8 FLOP at 2e11 a second take 0.5 ms of 1 ms; 1000 FLOP a byte against a balance of 10.
    QVERIFY2(text.contains(QStringLiteral("50.0 %")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("arithmetic is the lower one")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("From loop k inwards everything stays in the L1 cache; it is filled anew 128 times")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("From loop j inwards everything stays in the L2 cache")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("full width")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("busy for 100.0 %")), qPrintable(text));
  }

  /// A share above all that there is would be none: what is faster than memory has its data nearer.
  void dataInCachesIsFasterThanMemory() {
    WhyFacts f = product();
    f.compulsoryBytes = 4 * f.seconds * f.memoryBytesPerS;
    const QString text = textOf(whyRules(f));
    QVERIFY2(text.contains(QStringLiteral("It is 4.00 times as fast as memory allows")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("It reaches")), qPrintable(text));
  }

  void fewerOperationsThanDefinedAreFasterThanArithmetic() {
    WhyFacts f = product();
    f.flops = 2 * f.seconds * f.peak;
    const QString text = textOf(whyRules(f));
    QVERIFY2(text.contains(QStringLiteral("It is 2.00 times as fast as arithmetic allows")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("It reaches")), qPrintable(text));
  }

  void linesThatTakeMostAreNamed() {
    const QString text = QStringLiteral("def main():\n    for i in T.serial(8):\n        C[i] = 0\n        C[i] = C[i] + A[i]\n");
    WhyFacts f = product();
    f.lines = slowestLines(text, {-1, 0.01, 0.09, 0.9});
    f.linesSource = QStringLiteral("Model: of the test");
    QCOMPARE(f.lines.size(), size_t{2});
    QCOMPARE(f.lines[0].second, 0.9);
    const QString said = textOf(whyRules(f));
    QVERIFY2(said.contains(QStringLiteral("90 % to line 4 of the TIR, C[i] = C[i] + A[i]; 9.0 % to line 3")), qPrintable(said));
    QVERIFY(said.contains(f.linesSource));
    QVERIFY(slowestLines(text, {}).empty());
  }

  void whatIsNotKnownIsNotSaid() {
    WhyFacts f = product();
    f.peak = 0;
    f.seconds = 0;
    const QString text = textOf(whyRules(f));
    QVERIFY(!text.contains(QStringLiteral("limit")));
    QVERIFY(!text.contains(QStringLiteral("reaches")));
    QVERIFY(whyRules(WhyFacts()).empty());
  }

  /// On a GPU that is a formula: which part takes longest, what fits, how even the rounds are.
  void launchesOfAGpu() {
    WhyFacts f = product();
    f.loops.clear();
    WhyLaunch small;
    small.seconds = 1e-6;
    WhyLaunch l;
    l.blocks = 300, l.threads = 256, l.registers = 64, l.spilledRegisters = 4, l.sharedBytes = 16384, l.residentBlocks = 2, l.occupancy = 0.2;
    l.limit = QStringLiteral("registers"), l.waves = 1.1, l.seconds = 2e-5, l.limiter = QStringLiteral("memory");
    l.parts = {{QStringLiteral("arithmetic"), 5e-6}, {QStringLiteral("memory"), 1.5e-5}};
    f.launches = {small, l};
    const auto rules = whyRules(f);
    const QString text = textOf(rules);
    QVERIFY2(text.contains(QStringLiteral("slowest of its 2 launches spends most of its time on: memory")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("20.0 % of a multiprocessor's warps can be in use; no more fit because of the registers")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("busy for 55.0 % of its rounds")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("4 registers of every thread do not fit")), qPrintable(text));
    QVERIFY(!text.contains(QStringLiteral("one core")));
    l.blocks = 20, l.waves = 0.05;
    WhyFacts few = f;
    few.launches = {l};
    few.lines = {{QStringLiteral("line 3"), 0.4}};
    const QString one = textOf(whyRules(few));
    QVERIFY2(one.contains(QStringLiteral("Of its time after the launch go 40 % to line 3")), qPrintable(one));  // most of it may go to the launch itself
    QVERIFY2(one.contains(QStringLiteral("fills 5.0 % of the multiprocessors")) && one.contains(QStringLiteral("20 blocks, where 400 run at once")), qPrintable(one));

    LaunchChart chart;
    chart.setLaunches(f.launches);
    const Table table = chart.table();
    QCOMPARE(table.rows.size(), size_t{2});
    QCOMPARE(table.rows[1][table.columns.indexOf(QStringLiteral("registers of a thread"))], QStringLiteral("64"));
    QCOMPARE(table.rows[1][table.columns.indexOf(QStringLiteral("simulated s"))], QStringLiteral("2e-05"));
    QVERIFY(chart.summary().contains(QStringLiteral("memory most of it")));
    chart.resize(500, chart.sizeHint().height());
    QVERIFY(!chart.grab().isNull());
  }

  void countsOfTheProcessor() {
    WhyFacts f = product();
    f.counts.cycles = 1e6, f.counts.instructions = 2.5e6, f.counts.l1Misses = 1e5, f.counts.branchMisses = 2500;
    f.counts.missing = QStringLiteral("Not counted: llc_misses; this machine has no such counters");
    const QString text = textOf(whyRules(f));
    QVERIFY2(text.contains(QStringLiteral("completes 2.50 instructions a cycle")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("1.00 loads in 1000 FLOP miss the L1 cache")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("1.00 branches in 1000 instructions")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("Not counted: llc_misses")), qPrintable(text));
    QVERIFY(!text.contains(QStringLiteral("last-level cache")));
  }

  void badThingsAreNamed() {
    WhyFacts f = product();
    f.loops[0].parallel = false;
    f.loops.back().bytes = 1e5;
    f.usedVectorBits = 256;
    f.compulsoryBytes = 1e8;
    const QString text = textOf(whyRules(f));
    QVERIFY2(text.contains(QStringLiteral("memory is the lower one")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("Not even one run of the innermost loop")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("narrower vectors")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("one core of 2")), qPrintable(text));
    f.loops[0].parallel = true, f.loops[0].extent = 3;
    QVERIFY(textOf(whyRules(f)).contains(QStringLiteral("75.0 %")));  // two rounds for three iterations on two cores
  }

  void registersAreReadFromTheListing() {
    QCOMPARE(usedVectorBits("\tvfmadd231ps\tzmm0, zmm1, zmm2\n\tvmovups ymm1, [rax]\n"), 512);
    QCOMPARE(usedVectorBits("\tvfmadd231ps ymm0, ymm1, ymm2\n"), 256);
    QCOMPARE(usedVectorBits("\tvfmadd231ss xmm0, xmm1, xmm2\n"), 32);
    QCOMPARE(usedVectorBits("\tmulps xmm0, xmm1\n"), 128);
    QCOMPARE(usedVectorBits("\tmov rax, rbx\n"), 0);
  }

  void chartsSayWhatTheyShow() {
    RooflineChart roofline;
    roofline.resize(500, 300);
    roofline.setMachine(2e11, {{QStringLiteral("L1"), 4e11}, {QStringLiteral("memory"), 2e10}});
    roofline.setPoints({{QStringLiteral("shown"), 1000, 1e11}, {QStringLiteral("default"), 1000, 2e10}});
    QCOMPARE(roofline.table().rows.size(), size_t{5});
    QVERIFY(roofline.summary().contains(QStringLiteral("100")));
    QVERIFY(!roofline.grab().isNull());
    FootprintChart footprint;
    footprint.setLoops({{QStringLiteral("i"), 3e4, {{QStringLiteral("x"), 1e4}, {QStringLiteral("w"), 2e4}}}}, {{QStringLiteral("L1"), 32768}});
    QCOMPARE(footprint.table().columns.size(), 4);
    QCOMPARE(footprint.table().rows.size(), size_t{2});
    QVERIFY(!footprint.grab().isNull());
  }
};

QTEST_MAIN(WhyTest)
#include "why_rules_test.moc"
