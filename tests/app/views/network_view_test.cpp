// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/network_view.h"

#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QTreeView>

#include "tests/app/fake_bench.h"
#include "widgets/charts/network_chart.h"
#include "widgets/common/empty_state.h"
#include "widgets/records/round_model.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class NetworkViewTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() {
    QLocale::setDefault(QLocale::c());
    ownHome(QStringLiteral("network"), m_dir.path());
  }

  /// The estimate while a session runs, then read back, two sessions over each other with a target, and the rounds behind it.
  void showsHowFastTheNetworkIs() {
    auto b = openFake(m_dir.filePath(QStringLiteral("network.twdb")));
    b->engine.millisPerTrial = 0;
    showDock(*b->window, "dock.network");
    auto* view = b->window->findChild<NetworkView*>();
    auto* chart = view->findChild<widgets::NetworkChart*>();
    auto* state = view->findChild<widgets::EmptyState*>();
    auto* rounds = named<QTreeView>(*b->window, "table.network.rounds")->model();
    QTRY_VERIFY(state->isEmpty());
    setTrials(*b->window, 80);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_VERIFY(!chart->isEmpty());
    QVERIFY(!state->isEmpty());
    // The curve and its table follow a moment later.
    QTRY_VERIFY(!chart->lines().empty() && !chart->lines()[0].rounds.empty() && chart->lines()[0].rounds.back().session_trials == 80);
    const auto live = chart->lines()[0].rounds;
    QCOMPARE(live.size(), b->window->tuning().rounds().size());
    QTRY_COMPARE(rounds->rowCount(), static_cast<int>(live.size()));
    QVERIFY(live.size() >= 8);
    // The last task's first round ends what was not known.
    QVERIFY(!std::isfinite(live.front().network_s) && std::isfinite(live.back().network_s));
    // What is stored is what was told.
    const SessionId first = b->window->tuning().session();
    QTRY_COMPARE(b->window->hub().session(), SessionId{});  // the newest is shown where none is chosen
    QTRY_VERIFY(!chart->isEmpty());
    b->window->hub().setSession(first);
    QTRY_VERIFY(!chart->lines().empty() && chart->lines()[0].rounds.size() == live.size());
    const auto& stored = chart->lines()[0].rounds;
    for (size_t i = 0; i < stored.size(); ++i) {
      QCOMPARE(stored[i].number, live[i].number);
      QCOMPARE(stored[i].network_s, live[i].network_s);
      QCOMPARE(stored[i].decision, live[i].decision);
    }
    // What the network took as it ran, once every task was tried.
    api::NetworkFinals run;
    run.default_s = 5e-3, run.tuned_s = 4e-3, run.network = {0.8, 0.78, 0.82};
    b->engine.inNetwork = run;
    QAction* inNetwork = b->window->actions().get(QStringLiteral("tune.finals"));
    QTRY_VERIFY(inNetwork->isEnabled());
    inNetwork->trigger();
    QTRY_VERIFY2(chart->summary().contains(QStringLiteral("measured 4.00 ms instead of 5.00 ms")), qPrintable(chart->summary()));
    const auto stored_runs = b->window->workspace().reader()->network_finals(b->window->hub().model()->id);
    QVERIFY(stored_runs && stored_runs->size() == 1 && !stored_runs->front().session && stored_runs->front().taken == 2);
    // Another one over it, and a target; what it found is tried in the network by itself.
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(b->window->workspace().reader()->network_finals(b->window->hub().model()->id)->size(), size_t{2});
    b->window->hub().setComparedSessions({first, b->window->tuning().session()});
    QTRY_COMPARE(chart->lines().size(), size_t{2});
    QTRY_VERIFY(!chart->lines()[0].rounds.empty() && !chart->lines()[1].rounds.empty());  // each is read by itself
    QVERIFY(!chart->lines()[0].focus && chart->lines()[1].focus);
    named<QDoubleSpinBox>(*b->window, "spin.network.target")->setValue(live.back().network_s * 1e3);
    QVERIFY2(chart->legend(0).contains(QStringLiteral("target after 80 trials")), qPrintable(chart->legend(0)));
    named<QDoubleSpinBox>(*b->window, "spin.network.target")->setValue(live.back().network_s * 500);
    QVERIFY2(chart->legend(0).contains(QStringLiteral("not reached")), qPrintable(chart->legend(0)));
    // Chart and list show one round.
    named<QComboBox>(*b->window, "combo.network.page")->setCurrentIndex(1);
    QTest::keyClick(chart, Qt::Key_Left);
    auto* table = named<QTreeView>(*b->window, "table.network.rounds");
    QCOMPARE(table->currentIndex().row(), 0);
    QVERIFY(rounds->index(0, widgets::RoundModel::Why).data().toString().contains(QStringLiteral("turn")));
  }

  /// One task of several: there is a time once that one has it.
  void saysWhatIsMissing() {
    auto b = openFake(m_dir.filePath(QStringLiteral("missing.twdb")));
    b->engine.millisPerTrial = -1;
    b->engine.trialsPerSecond = 20;
    showDock(*b->window, "dock.network");
    auto* state = b->window->findChild<NetworkView*>()->findChild<widgets::EmptyState*>();
    setTrials(*b->window, 1000);
    b->window->startTuning();
    QTRY_VERIFY(b->window->tuning().rounds().size() > 1);
    QTRY_VERIFY(state->isEmpty());
    const auto says = [&](const char* part) {
      const auto labels = state->findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [&](const QLabel* l) { return l->text().contains(QLatin1String(part)); });
    };
    QTRY_VERIFY(says("once every task has one"));
    b->window->tuning().cancel();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
  }
};

QTEST_MAIN(NetworkViewTest)
#include "network_view_test.moc"
