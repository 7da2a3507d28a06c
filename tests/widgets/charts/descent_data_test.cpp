// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/descent_data.h"

#include <QtTest>

#include "widgets/charts/descent_chart.h"

using namespace tw;
using namespace tw::widgets;

namespace {

/// Two seeds that go two steps over three variables; what was chosen lies at the end of the second.
constexpr const char* kTold = R"({"why":"steep","search":{"model":true,"descent":[{"sketch":"sketch 1","seeds":2,"steps":2,"drawn_anew":1,
  "variables":["C.0^2","C.1^2","C.1^3"],"most":[4,3,1],"score":[0.5,0.75,1.25],"penalty":[2,1,0],
  "rounded":{"points":6,"different":5,"allowed":4,"legal":3,"fresh":2},
  "chosen":[{"seed":1,"step":2,"at":[3,0,1],"score":1.5},{"seed":0,"step":1,"at":[1,1],"score":9}],
  "ways":{"0":[[0,0,0],[0.5,1,0],[1,2,0]],"1":[[1,0,1],[2,0.25,1],[3,0.25,1]]}}]}})";

records::Round round(const char* decision) {
  records::Round r;
  r.decision = decision;
  return r;
}

}  // namespace

class DescentDataTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void readsWhatARoundTells() {
    const auto all = descentsOf(round(kTold));
    QVERIFY(hasDescent(round(kTold)));
    QCOMPARE(all.size(), size_t{1});
    const Descent& d = all[0];
    QCOMPARE(d.sketch, QStringLiteral("sketch 1"));
    QCOMPARE(d.seeds, 2);
    QCOMPARE(d.variables.size(), qsizetype{3});
    QCOMPARE(d.fresh, int64_t{2});
    QCOMPARE(d.ways.size(), size_t{2});
    QCOMPARE(d.ways.at(1)[1], (std::vector<double>{2, 0.25, 1}));
    QCOMPARE(d.chosen.size(), size_t{1});  // the other one speaks of two variables
    QCOMPARE(d.chosen[0].at, (std::vector<int>{3, 0, 1}));
  }

  void roundsWithoutADescentHaveNone() {
    for (const char* text : {"", "{", "{}", R"({"search":{"descent":[]}})", R"({"search":7})"}) {
      QVERIFY(!hasDescent(round(text)));
      QVERIFY(descentsOf(round(text)).empty());
    }
    // Of damaged rows what can be read.
    QVERIFY(descentsOf(round(R"({"search":{"descent":[{"sketch":7}]}})")).empty());
    QVERIFY(descentsOf(round(R"({"search":{"descent":{"sketch":"a"}}})")).empty());
  }

  void theChartShowsTheLongestWaysAndTellsWhatIsChosen() {
    DescentChart chart;
    QVERIFY(chart.isEmpty());
    chart.resize(700, 300);
    chart.setDescent(descentsOf(round(kTold))[0]);
    QCOMPARE(chart.widestAxes(), std::make_pair(0, 1));  // 3 along the first, 2.25 along the second, none along the third
    chart.setAxes(0, 1);
    QVERIFY2(chart.summary().contains(QStringLiteral("5 differ")) && chart.summary().contains(QStringLiteral("drawn anew")), qPrintable(chart.summary()));
    QSignalSpy activated(&chart, &DescentChart::candidateActivated);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(activated.size(), 1);
    QCOMPARE(chart.chosen(), 0);
    const Table table = chart.table();
    QCOMPARE(table.columns.size(), qsizetype{7});
    QCOMPARE(table.rows.size(), size_t{7});  // three points of either way, and the one that was measured
    QCOMPARE(table.rows.back(), (QStringList{"1", "2", "1", "1.5", "3", "0", "1"}));
    chart.setDescent({});
    QVERIFY(chart.isEmpty() && chart.table().rows.empty());
  }
};

QTEST_MAIN(DescentDataTest)
#include "descent_data_test.moc"
