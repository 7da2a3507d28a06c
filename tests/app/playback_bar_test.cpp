// SPDX-License-Identifier: GPL-3.0-or-later
// Stored sessions played on their time axis in the window.
#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QTreeView>
#include <cmath>

#include "app/playback_bar.h"
#include "app/selection_hub.h"
#include "app/services/playback_clock.h"
#include "tests/app/fake_bench.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/network_chart.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

/// Two sessions of 40 trials on two tasks, and the first of them in the views.
std::unique_ptr<FakeBench> withSessions(const QString& database) {
  auto b = openFake(database);
  b->engine.millisPerTrial = 1;
  setTrials(*b->window, 40);
  for (int i = 1; i <= 2; ++i) {
    named<widgets::IntegerBox>(*b->window, "edit.tune.seed")->setValue(i);
    b->window->startTuning();
    if (!QTest::qWaitFor([&] { return b->window->tuning().state() == TuneService::State::idle; })) qFatal("the session did not end");
    if (!QTest::qWaitFor([&] { return b->window->workspace().sessions().size() == static_cast<size_t>(i); })) qFatal("the session was not stored");
  }
  return b;
}

int trialsShown(MainWindow& window) { return window.trials().store() ? window.trials().store()->size() : 0; }

}  // namespace

class PlaybackBarTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("playback-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  /// From nothing to everything, to and fro, and whole again in the end.
  void aSessionPlaysInAllViews() {
    auto b = withSessions(database("one.twdb"));
    MainWindow& w = *b->window;
    auto* bar = named<PlaybackBar>(w, "playback");
    QVERIFY(!bar->isVisible());
    const SessionId first = w.workspace().sessions()[0].id;
    w.hub().setSession(first);
    QTRY_COMPARE(trialsShown(w), 20);
    w.actions().get(QStringLiteral("session.play"))->trigger();
    PlaybackClock& clock = w.hub().playback();
    QTRY_VERIFY(clock.isOpen());
    QVERIFY(bar->isVisible() && clock.plays(w.hub().session()));
    QTRY_COMPARE(trialsShown(w), 0);
    auto* table = named<QTreeView>(w, "table.trials");
    auto* chart = named<widgets::CurveChart>(w, "view.curve.chart");
    // Step by step until the first trials of this task are there, and the chart and the table have them.
    for (int i = 0; i < 40 && trialsShown(w) < 3; ++i) QVERIFY(click(w, "playback.forward"));
    QCOMPARE(trialsShown(w), 3);
    QTRY_COMPARE(table->model()->rowCount(), 3);
    QTRY_VERIFY(chart->data().trials.size() + chart->data().failures.size() <= 3);
    QVERIFY(click(w, "playback.back"));
    QVERIFY(trialsShown(w) <= 3);
    // Dragged to the end, everything is there; back in the middle, a part.
    auto* slider = named<QSlider>(w, "playback.slider");
    slider->setValue(slider->maximum());
    QCOMPARE(trialsShown(w), 20);
    QVERIFY(!named<QToolButton>(w, "playback.forward")->isEnabled());
    slider->setValue(slider->maximum() / 2);
    QVERIFY(trialsShown(w) > 0 && trialsShown(w) < 20);
    QTRY_COMPARE(table->model()->rowCount(), trialsShown(w));
    // It plays by itself, as fast as it is told, and stands at the end.
    auto* speed = named<QComboBox>(w, "playback.speed");
    speed->setCurrentIndex(speed->findData(1000));
    QCOMPARE(clock.speed(), 1000.0);
    QVERIFY(click(w, "playback.play"));
    QTRY_VERIFY(clock.isAtEnd() && !clock.isRunning());
    QCOMPARE(trialsShown(w), 20);
    slider->setValue(0);
    QCOMPARE(trialsShown(w), 0);
    QVERIFY(click(w, "playback.close"));
    QVERIFY(!bar->isVisible());
    QTRY_COMPARE(trialsShown(w), 20);
  }

  /// Rounds end when they did, and another session is not touched.
  void roundsAndOtherSessions() {
    auto b = withSessions(database("rounds.twdb"));
    MainWindow& w = *b->window;
    const SessionId first = w.workspace().sessions()[0].id, second = w.workspace().sessions()[1].id;
    w.hub().setSession(first);
    showDock(w, "dock.network");
    auto* chart = w.findChild<widgets::NetworkChart*>();
    const auto rounds = [&] { return chart->lines().empty() ? size_t{0} : chart->lines().front().rounds.size(); };
    const size_t all = 4;  // of ten trials each
    QTRY_COMPARE(rounds(), all);
    w.actions().get(QStringLiteral("session.play"))->trigger();
    QTRY_VERIFY(w.hub().playback().isOpen());
    QTRY_COMPARE(rounds(), size_t{0});
    w.hub().playback().setAt(w.hub().playback().length() / 2);
    QTRY_VERIFY(rounds() > 0 && rounds() < all);
    w.hub().playback().setAt(w.hub().playback().length());
    QTRY_COMPARE(rounds(), all);
    w.hub().playback().setAt(0);
    w.hub().setSession(second);
    QTRY_COMPARE(trialsShown(w), 20);  // it is not played
  }

  /// Sessions selected together begin together.
  void severalOnOneClock() {
    auto b = withSessions(database("two.twdb"));
    MainWindow& w = *b->window;
    w.setPerspective(QStringLiteral("compare"));
    showDock(w, "dock.sessions");
    auto* table = named<QTreeView>(w, "table.sessions");
    table->selectAll();
    QTRY_VERIFY(w.actions().get(QStringLiteral("session.play"))->isEnabled());
    w.actions().get(QStringLiteral("session.play"))->trigger();
    PlaybackClock& clock = w.hub().playback();
    QTRY_COMPARE(clock.sessions().size(), size_t{2});
    QCOMPARE(w.hub().comparedSessions().size(), size_t{2});
    QVERIFY(named<QLabel>(w, "playback.title")->text().contains(QStringLiteral("·")));
    double longest = 0;
    for (const auto& s : clock.sessions()) longest = std::max(longest, s.moments.back().elapsed_s);
    QCOMPARE(clock.length(), longest);
    // Another network, and there is nothing left to play.
    w.hub().setModel(nullptr);
    QVERIFY(!clock.isOpen());
  }
};

QTEST_MAIN(PlaybackBarTest)
#include "playback_bar_test.moc"
