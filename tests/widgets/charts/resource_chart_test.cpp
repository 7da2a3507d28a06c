// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/resource_chart.h"

// The header of QCustomPlot uses the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#include <QtTest>
#include <set>

#include "widgets/charts/importance_view.h"
#include "widgets/theme/theme.h"

using namespace tw::widgets;

namespace {

/// A mean with a band over four tiles, and a best that three of them have.
ResourceCurves sample() {
  ResourceCurves c{QStringLiteral("tile"), {QStringLiteral("8"), QStringLiteral("16"), QStringLiteral("32"), QStringLiteral("64")}, {}, {}};
  c.lines = {{QStringLiteral("mean"), {1e9, 2e9, 3e9, 3.1e9}, {0.9e9, 1.8e9, 2.8e9, 2.9e9}, {1.1e9, 2.2e9, 3.2e9, 3.3e9}, false, false},
             {QStringLiteral("best"), {2e9, 0, 5e9, 4e9}, {}, {}, true, true}};
  c.marks = {{2, QStringLiteral("knee: 32")}};
  return c;
}

}  // namespace

class ResourceChartTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() { QLocale::setDefault(QLocale::c()); }

  void isATableAndASentence() {
    ResourceChart chart;
    chart.setCurves(sample());
    const Table table = chart.table();
    QCOMPARE(table.columns.size(), 5);
    QCOMPARE(table.rows.size(), size_t{4});
    QCOMPARE(table.rows[2],
             (QStringList{QStringLiteral("32"), QStringLiteral("3e+09"), QStringLiteral("2.8e+09"), QStringLiteral("3.2e+09"), QStringLiteral("5e+09")}));
    QCOMPARE(table.rows[1][4], QString());  // no trial has it
    QVERIFY2(chart.summary().contains(QStringLiteral("best: at most 5.00 GFLOP/s at 32")) && chart.summary().endsWith(QStringLiteral("knee: 32")),
             qPrintable(chart.summary()));
    QCOMPARE(chart.accessibleDescription(), chart.summary());
  }
  void keysGoAlongWhatLeadsToTrials() {
    ResourceChart chart;
    chart.setCurves(sample());
    QSignalSpy activated(&chart, &ResourceChart::pointActivated);
    for (int i = 0; i < 4; ++i) QTest::keyClick(&chart, Qt::Key_Right);
    QTest::keyClick(&chart, Qt::Key_Left);
    // The place without a trial is passed over, and behind the last there is none.
    QList<int> values;
    for (const auto& call : activated) {
      QCOMPARE(call[0].toInt(), 1);
      values << call[1].toInt();
    }
    QCOMPARE(values, (QList<int>{0, 2, 3, 2}));
  }
  void aClickTakesThePointUnderIt() {
    ResourceChart chart;
    chart.setCurves(sample());
    chart.resize(500, 300);
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    auto* plot = chart.findChild<QCustomPlot*>();
    plot->replot(QCustomPlot::rpImmediateRefresh);
    QSignalSpy activated(&chart, &ResourceChart::pointActivated);
    const auto at = [&](double x, double y) { return QPoint(qRound(plot->xAxis->coordToPixel(x)), qRound(plot->yAxis->coordToPixel(y))); };
    QTest::mouseClick(plot, Qt::LeftButton, {}, at(2, 5));
    QCOMPARE(activated.size(), 1);
    QCOMPARE(activated[0][1].toInt(), 2);
    QTest::mouseClick(plot, Qt::LeftButton, {}, at(1, 2));  // of the mean, behind which no trial stands
    QCOMPARE(activated.size(), 1);
  }
  void drawsInBothThemes() {
    for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
      applyTheme(choice);
      ResourceChart chart;
      chart.setCurves(sample());
      ImportanceView bars;
      bars.setShares({{QStringLiteral("tile"), 0.6, 0.5, 0.7}, {QStringLiteral("order"), 0.1, 0.0, 0.2}}, QStringLiteral("What a share is."));
      QCOMPARE(bars.table().columns.size(), 4);
      QCOMPARE(bars.table().rows[0][2], QStringLiteral("0.5"));
      for (QWidget* view : std::initializer_list<QWidget*>{&chart, &bars}) {
        view->resize(480, 300);
        view->show();
        QVERIFY(QTest::qWaitForWindowExposed(view));
        std::set<QRgb> colours;
        const QImage image = view->grab().toImage();
        for (int y = 0; y < image.height(); y += 2)
          for (int x = 0; x < image.width(); x += 2) colours.insert(image.pixel(x, y));
        QVERIFY(colours.size() > 5);
      }
    }
    applyTheme(ThemeChoice::light);
  }
};

QTEST_MAIN(ResourceChartTest)
#include "resource_chart_test.moc"
