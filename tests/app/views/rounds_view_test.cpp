// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/rounds_view.h"

#include <QComboBox>
#include <QLabel>

#include "tests/app/fake_bench.h"
#include "widgets/charts/round_chart.h"
#include "widgets/common/empty_state.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class RoundsViewTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() {
    QLocale::setDefault(QLocale::c());
    ownHome(QStringLiteral("rounds"), m_dir.path());
  }

  /// What a session's rounds say while it runs and read back; what no round says is told as missing.
  void showsWhatStandsBehindRounds() {
    auto b = openFake(m_dir.filePath(QStringLiteral("rounds.twdb")));
    b->engine.millisPerTrial = 0;
    b->engine.decision = R"({"why":"steep","task":0,"gradients":[{"task":0,"gradient_s":-2e-3},{"task":1,"gradient_s":-1e-3}]})";
    showDock(*b->window, "dock.rounds");
    auto* view = b->window->findChild<RoundsView*>();
    auto* chart = view->findChild<widgets::RoundChart*>();
    auto* state = view->findChild<widgets::EmptyState*>();
    auto* terms = named<QComboBox>(*b->window, "combo.rounds.terms");
    QTRY_VERIFY(state->isEmpty());
    setTrials(*b->window, 80);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(chart->stack().columns.size(), b->window->tuning().rounds().size());
    QVERIFY(!state->isEmpty());
    const auto live = chart->stack().columns.size();
    b->window->hub().setSession(b->window->tuning().session());
    QTRY_COMPARE(chart->stack().columns.size(), live);
    QVERIFY2(named<QLabel>(*b->window, "label.rounds.summary")->text().contains(QStringLiteral("2.00 ms")), qPrintable(chart->summary()));
    terms->setCurrentIndex(1);
    QVERIFY(chart->isEmpty() && state->isEmpty());
    const auto labels = state->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* l) { return l->text().contains(QStringLiteral("breeds no schedules")); }));
    terms->setCurrentIndex(0);
    QVERIFY(!chart->isEmpty());
  }

  /// Workspaces number their sessions alike: rounds of the one that was tuned last are not those of another workspace's.
  void roundsAreThoseOfTheWorkspace() {
    auto b = openFake(m_dir.filePath(QStringLiteral("short.twdb")));
    MainWindow& w = *b->window;
    b->engine.millisPerTrial = 0;
    b->engine.decision = R"({"why":"steep","task":0,"gradients":[{"task":0,"gradient_s":-2e-3},{"task":1,"gradient_s":-1e-3}]})";
    showDock(w, "dock.rounds");
    const auto tune = [&](int trials) {
      setTrials(w, trials);
      w.startTuning();
      QTRY_VERIFY(!w.tuning().isActive() && w.workspace().sessions().size() == 1);
    };
    const auto open = [&](const char* name) {
      w.openWorkspace(m_dir.filePath(QLatin1String(name)));
      QTRY_VERIFY(w.workspace().database() && w.hub().model() && w.hub().model()->isWhole && !w.models().isBusy());
    };
    tune(40);
    const auto few = w.tuning().rounds().size();
    open("long.twdb");
    tune(80);
    QVERIFY(w.tuning().rounds().size() > few);
    open("short.twdb");
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{1});
    w.hub().setSession(w.tuning().session());
    const auto* chart = w.findChild<RoundsView*>()->findChild<widgets::RoundChart*>();
    QTRY_COMPARE(chart->stack().columns.size(), few);
    QTest::qWait(50);
    QCOMPARE(chart->stack().columns.size(), few);
  }
};

QTEST_MAIN(RoundsViewTest)
#include "rounds_view_test.moc"
