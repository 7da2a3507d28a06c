// SPDX-License-Identifier: GPL-3.0-or-later
// What of an arrangement a window has room for, by numbers and in the window itself.
// The header of QCustomPlot uses the short keywords.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#include <QTabBar>
#include <QTreeView>

#include "app/perspectives.h"
#include "tests/app/fake_bench.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class PerspectivesTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static const PerspectiveDef& def(const char* id) {
    const auto& all = perspectives();
    return *std::find_if(all.begin(), all.end(), [&](const PerspectiveDef& p) { return QLatin1String(p.id) == QLatin1String(id); });
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("perspectives-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void whatDoesNotFitIsATab() {
    const auto fit = [](double width, double height, double taken = 0) { return frameFit(def("tune"), width, height, taken); };
    QCOMPARE(fit(2560, 1440), (FrameFit{true, Split::over}));
    QCOMPARE(fit(1920, 1040), (FrameFit{false, Split::beside}));  // the graph is a tab
    QCOMPARE(fit(2560, 1000), (FrameFit{true, Split::beside}));
    QCOMPARE(fit(1600, 1000), (FrameFit{false, Split::beside}));
    QCOMPARE(fit(1600, 1000, 400), (FrameFit{false, Split::tabs}));  // beside a lesson
    QCOMPARE(fit(1366, 768), (FrameFit{false, Split::tabs}));
    // Others have no two plots, and are parted as ever.
    for (const char* id : {"explore", "compare", "code", "teach"}) QCOMPARE(frameFit(def(id), 1366, 768, 0), (FrameFit{false, Split::over}));
    QCOMPARE(frameFit(def("explore"), 1600, 1000, 0), (FrameFit{true, Split::over}));
  }

  /// With a network open the start page is no dead end: its card, the perspectives' tabs and keys lead back, and what has no place on it cannot be asked for.
  void theStartPageLeadsBack() {
    auto b = openFake(m_dir.filePath(QStringLiteral("start.twdb")));
    MainWindow& w = *b->window;
    b->engine.millisPerTrial = 0;
    setTrials(w, 40);
    w.startTuning();
    QTRY_VERIFY(!w.tuning().isActive() && w.trials().store() && w.actions().get(QStringLiteral("trial.why"))->isEnabled());
    const auto* page = named<QWidget>(w, "page.start");
    const auto frameOnly = {"view.drawer", "tune.start", "trial.why", "trial.code"};
    const auto start = [&] {
      w.actions().get(QStringLiteral("file.start"))->trigger();
      QVERIFY(page->isVisible());
      for (const char* name : frameOnly) QVERIFY2(!w.actions().get(QLatin1String(name))->isEnabled(), name);
    };
    const auto isBack = [&] {
      for (const char* name : frameOnly) QVERIFY2(w.actions().get(QLatin1String(name))->isEnabled(), name);
      QVERIFY(!page->isVisible() && named<QDockWidget>(w, "dock.graph")->isVisible());
    };
    auto* tabs = named<QTabBar>(w, "tabs.perspectives");
    start();
    QVERIFY(click(w, "card.back"));
    isBack();
    start();
    QTest::mouseClick(tabs, Qt::LeftButton, Qt::NoModifier, tabs->tabRect(tabs->currentIndex()).center());
    isBack();
    start();
    press(w, Qt::Key_1, Qt::ControlModifier);
    isBack();
    QCOMPARE(w.perspective(), QLatin1String(perspectives().front().id));
    // In a table Ctrl+Home goes to the first row.
    showDock(w, "dock.trials");
    auto* table = named<QTreeView>(w, "table.trials");
    QTRY_VERIFY(table->model()->rowCount() > 2);
    table->setCurrentIndex(table->model()->index(2, 0));
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Home, Qt::ControlModifier);
    QCOMPARE(table->currentIndex().row(), 0);
    isBack();
    start();
    w.actions().get(QStringLiteral("file.close"))->trigger();
    QVERIFY(page->isVisible() && !named<QWidget>(w, "card.back")->isVisible() && !tabs->isEnabled());
  }

  /// At the sizes that people have, and with large letters, each plot of Tune that is seen has room to be read, the drawer open or not.
  void plotsHaveRoom() {
    auto b = openFake(m_dir.filePath(QStringLiteral("plots.twdb")));
    MainWindow& w = *b->window;
    setTrials(w, 80);
    w.startTuning();
    QTRY_COMPARE(w.tuning().state(), TuneService::State::idle);
    w.setPerspective(QStringLiteral("tune"));
    for (const bool big : {false, true}) {
      w.setBigType(big);
      for (const QSize size : {QSize(1366, 768), QSize(1536, 864), QSize(1600, 1000), QSize(1920, 1080), QSize(2560, 1440)}) {
        if (big && size.width() < 1600) continue;  // see theFrameFitsItsSizes for what is asked of small windows
        w.resize(size);
        w.resetLayout();
        for (const bool open : {true, false}) {
          auto* drawer = named<QDockWidget>(w, "dock.trials");
          if (drawer->isHidden() == open) w.actions().get(QStringLiteral("view.drawer"))->trigger();
          QCOMPARE(drawer->isHidden(), !open);
          // Those that share a place with another one come to the front in their turn.
          for (const auto& [dock, chart] : {std::pair("dock.network", "view.network.chart"), std::pair("dock.curve", "view.curve.chart")}) {
            showDock(w, dock);
            auto* plot = named<QWidget>(w, chart)->findChild<QCustomPlot*>();
            const auto room = [&] {
              plot->replot();
              return plot->axisRect(0)->size();
            };
            const QString where = QStringLiteral("%1 at %2x%3%4%5").arg(QLatin1String(dock)).arg(size.width()).arg(size.height()).arg(big ? QStringLiteral(", big") : QString(), open ? QStringLiteral(", drawer open") : QString());
            QTRY_VERIFY2(!plot->visibleRegion().isEmpty(), qPrintable(where));
            QTRY_VERIFY2(room().height() >= kLeastPlotHeight, qPrintable(QStringLiteral("%1: %2 pixels high").arg(where).arg(room().height())));
            QTRY_VERIFY2(plot->width() >= kLeastPlotWidth, qPrintable(QStringLiteral("%1: %2 pixels wide").arg(where).arg(plot->width())));
          }
        }
      }
    }
  }
};

QTEST_MAIN(PerspectivesTest)
#include "perspectives_test.moc"
