// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions in the window: while they run, beside each other, after a restart, as a report.
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QHeaderView>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStatusBar>
#include <QTreeView>

#include "app/services/session_set.h"
#include "app/views/sessions_view.h"
#include "app/views/tune_view.h"
#include "tests/app/fake_bench.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/prediction_chart.h"
#include "widgets/common/banner.h"
#include "widgets/common/integer_box.h"
#include "widgets/records/session_model.h"
#include "widgets/tuning/task_model.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

/// Of all tasks, as the table of tasks counts them.
qint64 trialsInTable(MainWindow& window) {
  const QAbstractItemModel* tasks = named<QTreeView>(window, "table.tasks")->model();
  qint64 trials = 0;
  for (int row = 0; row < tasks->rowCount(); ++row)
    trials += tasks->index(row, widgets::TaskModel::Trials).data(widgets::TaskModel::SortRole).toLongLong();
  return trials;
}

}  // namespace

class SessionsTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("sessions-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void tuningShowsPointsAndStops() {
    auto b = openFake(database("tune.twdb"));
    b->engine.millisPerTrial = 3;
    setTrials(*b->window, 4000);
    b->window->actions().get(QStringLiteral("tune.start"))->trigger();
    auto& tuning = b->window->tuning();
    QCOMPARE(tuning.state(), TuneService::State::running);
    auto* chart = b->window->findChild<widgets::CurveChart*>(QStringLiteral("view.curve.chart"));
    QTRY_VERIFY(chart->data().trials.size() > 5);
    QTRY_VERIFY(!chart->data().failures.empty());
    QVERIFY(!chart->data().best.empty());
    QVERIFY(b->window->findChild<QTreeView*>(QStringLiteral("table.trials"))->model()->rowCount() > 5);
    // Pausing holds the number of trials.
    b->window->actions().get(QStringLiteral("tune.pause"))->trigger();
    QCOMPARE(tuning.state(), TuneService::State::paused);
    const int before = b->engine.pausedPolls;
    QTRY_VERIFY(b->engine.pausedPolls > before + 20);
    const qint64 held = tuning.trialsDone();
    const double worked = tuning.elapsedSeconds(), rate = tuning.trialsPerSecond();
    QTRY_VERIFY(b->engine.pausedPolls > before + 60);
    QCOMPARE(tuning.trialsDone(), held);
    QCOMPARE(tuning.elapsedSeconds(), worked);
    QCOMPARE(tuning.trialsPerSecond(), rate);
    b->window->actions().get(QStringLiteral("tune.pause"))->trigger();
    QTRY_VERIFY(tuning.trialsDone() > held);
    b->window->actions().get(QStringLiteral("tune.cancel"))->trigger();
    QTRY_COMPARE(tuning.state(), TuneService::State::idle);
    QTRY_VERIFY(!b->window->workspace().sessions().empty());
    QTRY_COMPARE(QString::fromStdString(b->window->workspace().sessions()[0].state), QStringLiteral("cancelled"));
  }

  /// What is being tuned is followed until somebody chooses another task, which is said, and again from the next session on.
  void followingYieldsToAClick() {
    auto b = openFake(database("follow.twdb"));
    b->engine.millisPerTrial = 3;
    setTrials(*b->window, 4000);
    auto* follow = named<QCheckBox>(*b->window, "check.tune.follow");
    QVERIFY(follow->isChecked());
    b->window->startTuning();
    auto& tuning = b->window->tuning();
    QTRY_VERIFY(tuning.trialsDone() > 10 && b->window->hub().task() == tuning.currentTask());
    const int other = tuning.currentTask() == 0 ? 1 : 0;
    b->window->hub().setTask(other);
    QVERIFY(!follow->isChecked());
    QVERIFY2(b->window->statusBar()->currentMessage().startsWith(QStringLiteral("T%1 stays in sight").arg(other + 1)), qPrintable(b->window->statusBar()->currentMessage()));
    const qint64 then = tuning.trialsDone();
    QTRY_VERIFY(tuning.trialsDone() > then + 60);
    QCOMPARE(b->window->hub().task(), other);
    tuning.cancel();
    QTRY_COMPARE(tuning.state(), TuneService::State::idle);
    b->window->startTuning();
    QTRY_VERIFY(follow->isChecked());
    tuning.cancel();
    QTRY_COMPARE(tuning.state(), TuneService::State::idle);
  }

  /// A session over all tasks ends on the tasks by what they gained, not on the one that came last.
  void tuningAllEndsOnTheGains() {
    auto b = openFake(database("gains.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 80);
    b->window->setPerspective(QStringLiteral("tune"));
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto* tasks = named<QTreeView>(*b->window, "table.tasks");
    QTRY_COMPARE(tasks->header()->sortIndicatorSection(), int{widgets::TaskModel::Gain});
    QCOMPARE(tasks->header()->sortIndicatorOrder(), Qt::DescendingOrder);
    QVERIFY(!tasks->viewport()->visibleRegion().isEmpty());
    QCOMPARE(tasks->model()->index(0, 0).data(widgets::TaskModel::TaskRole).toInt(), b->window->hub().task());
  }

  /// Trials are read page by page: between two of them another workspace may be opened.
  void anotherWorkspaceIsOpenedWhileTrialsAreRead() {
    auto b = openFake(database("read.twdb"));
    b->engine.millisPerTrial = 0;
    b->engine.trialsPerBatch = 100;  // each batch waits for the disk
    setTrials(*b->window, 2000);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
    b->window->hub().setSession(b->window->workspace().sessions()[0].id);
    QVERIFY(b->window->trials().isLoading());
    QSignalSpy opened(&b->window->workspace(), &Workspace::opened);
    b->window->openWorkspace(database("other.twdb"));
    QTRY_COMPARE(opened.count(), 1);
    QTRY_VERIFY(b->window->workspace().sessions().empty() && !b->window->trials().isLoading());
  }

  /// A session that ended may still be read back when another workspace is opened: its trials are not asked of that one.
  void anotherWorkspaceIsOpenedWhileASessionIsReadBack() {
    auto b = openFake(database("ended.twdb"));
    b->engine.millisPerTrial = -1;
    b->engine.trialsPerBatch = 500;
    constexpr int kTrials = 24'000;
    setTrials(*b->window, kTrials);
    TuneService& tuning = b->window->tuning();
    QSignalSpy failed(&tuning, &TuneService::failed), opened(&b->window->workspace(), &Workspace::opened);
    bool behind = false;
    connect(&tuning, &TuneService::stateChanged, &tuning, [&] {
      if (tuning.isActive()) return;
      behind = tuning.isCatchingUp();
      b->window->openWorkspace(database("beside.twdb"));
    });
    b->window->startTuning();
    // The window hangs until the session is over: more trials come than the feed holds.
    QElapsedTimer hang;
    hang.start();
    while (hang.elapsed() < 20'000 && b->engine.told < kTrials) QThread::msleep(5);
    QTRY_COMPARE(opened.count(), 1);
    QVERIFY(behind);
    QTRY_VERIFY(b->window->workspace().jobs().running() == 0);
    QTest::qWait(50);  // a page that was read then would lead to the next
    QVERIFY(tuning.isCatchingUp());
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : qPrintable(failed[0][0].toString()));
  }

  /// A session that got fewer trials than were asked for says why, where everybody sees it.
  void aShortSessionSaysWhy() {
    auto b = openFake(database("short.twdb"));
    b->engine.millisPerTrial = 0;
    b->engine.endedBecause = "20 of the 96 trials asked for were made: the task's space has no further candidate";
    setTrials(*b->window, 20);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto* banner = named<widgets::Banner>(*b->window, "banner");
    QTRY_VERIFY2(banner->isVisible() && banner->text().endsWith(QString::fromStdString(b->engine.endedBecause) + QLatin1Char('.')), qPrintable(banner->text()));
    // A view that is brought to the front does not cover its upper line.
    const auto* text = banner->findChild<QLabel*>(QStringLiteral("banner.text"));
    for (const char* dock : {"dock.jobs", "dock.sessions"}) showDock(*b->window, dock);
    QTRY_VERIFY(b->window->childAt(text->mapTo(b->window.get(), QPoint(4, 2))) == text);
    b->engine.endedBecause.clear();
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QVERIFY(b->window->tuning().endedBecause().isEmpty());
  }

  /// One Escape closes things, two in a row stop the session.
  void twoEscapesStop() {
    auto b = openFake(database("escape.twdb"));
    b->engine.millisPerTrial = 3;
    setTrials(*b->window, 4000);
    b->window->startTuning();
    auto& tuning = b->window->tuning();
    QTRY_VERIFY(tuning.trialsDone() > 0);
    press(*b->window, Qt::Key_Escape);
    press(*b->window, Qt::Key_Down);
    press(*b->window, Qt::Key_Escape);
    QTest::qWait(50);
    QCOMPARE(tuning.state(), TuneService::State::running);
    press(*b->window, Qt::Key_Escape);
    QTRY_COMPARE(tuning.state(), TuneService::State::idle);
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
    QTRY_COMPARE(QString::fromStdString(b->window->workspace().sessions()[0].state), QStringLiteral("cancelled"));
  }

  void allTrialsArriveAndAreStored() {
    auto b = openFake(database("all.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 600);
    b->window->startTuning();
    QTRY_COMPARE_WITH_TIMEOUT(b->window->tuning().state(), TuneService::State::idle, 20000);
    QCOMPARE(b->window->tuning().trialsDone(), 600);
    for (int task = 0; task < 2; ++task) QCOMPARE(b->window->tuning().progress(task)->store->size(), 300);
    const auto stored = b->window->workspace().database()->trials(b->window->tuning().session(), std::nullopt);
    QVERIFY(stored.has_value());
    QCOMPARE(stored->size(), size_t{600});
  }

  void trialsThatDidNotFitAreReadBack() {
    auto b = openFake(database("flood.twdb"));
    b->engine.millisPerTrial = -1;  // as fast as it can
    b->engine.trialsPerBatch = 500;
    setTrials(*b->window, 24'000);
    b->window->startTuning();
    // The window hangs while the engine goes on: more trials come than the feed holds.
    QTRY_VERIFY(b->window->tuning().trialsDone() > 0);
    QElapsedTimer hang;
    hang.start();
    while (hang.elapsed() < 3000 && b->engine.told < 24'000) QThread::msleep(10);
    QTRY_COMPARE_WITH_TIMEOUT(b->window->tuning().state(), TuneService::State::idle, 30'000);
    QVERIFY(b->window->tuning().trialsDropped() > 0);
    for (int task = 0; task < 2; ++task) {
      QTRY_COMPARE(b->window->tuning().progress(task)->store->size(), 12'000);
      const auto& store = *b->window->tuning().progress(task)->store;
      for (int row = 0; row < store.size(); ++row) QCOMPARE(store.number(row), row + 1);
    }
    QVERIFY(!b->window->tuning().isCatchingUp());
  }

  void predictionsStandAgainstMeasurements() {
    auto b = openFake(database("predictions.twdb"));
    b->engine.millisPerTrial = 0;
    auto* page = b->window->findChild<QComboBox*>(QStringLiteral("combo.curve.page"));
    auto* chart = b->window->findChild<widgets::PredictionChart*>();
    page->setCurrentIndex(2);
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_VERIFY(b->window->trials().store() && b->window->trials().store()->size() == 20);
    QTRY_VERIFY(chart->isEmpty() && !chart->isVisible());  // this tuner has no model
    tune::SessionOptions options = b->window->tuneView().options();
    options.tuner = "xgb";
    options.trials = 120;
    b->window->tuneView().setOptions(options);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    // Now that it is over, trials of both sessions are shown; then those of the second alone.
    QTRY_COMPARE(b->window->trials().store() ? b->window->trials().store()->size() : 0, 80);
    b->window->hub().setSession(b->window->tuning().session());
    QTRY_COMPARE(b->window->trials().store() ? b->window->trials().store()->size() : 0, 60);
    QTRY_COMPARE(chart->rounds().size(), size_t{3});  // after 16, 32 and 48 of them
    QTRY_COMPARE(chart->rounds()[2].points.size(), size_t{11});  // one of the last twelve failed
    QVERIFY(chart->isVisible());
    QCOMPARE(chart->rounds()[1].learned, 32);
    QCOMPARE(chart->rounds()[1].spearman, 1.0);  // the later the faster, as it said
    QCOMPARE(chart->rounds()[0].failed, 3);
    // What is stored says the same as what came live.
    const auto rounds = chart->rounds();
    b->window->hub().setSession(b->window->workspace().sessions().front().id);
    QTRY_VERIFY(!chart->isVisible());
    b->window->hub().setSession(b->window->tuning().session());
    QTRY_COMPARE(chart->rounds().size(), rounds.size());
    QCOMPARE(chart->rounds()[2].points.size(), rounds[2].points.size());
    QCOMPARE(chart->table().columns.size(), 9);
  }

  void sessionsStandSideBySide() {
    auto b = openFake(database("compare.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    for (int i = 1; i <= 2; ++i) {
      named<widgets::IntegerBox>(*b->window, "edit.tune.seed")->setValue(i);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(b->window->workspace().sessions().size(), static_cast<size_t>(i));
    }
    showDock(*b->window, "dock.compare");
    auto* sessions = b->window->findChild<QTreeView*>(QStringLiteral("table.sessions"))->model();
    for (int row = 0; row < 2; ++row) QVERIFY(sessions->setData(sessions->index(row, 0), Qt::Checked, Qt::CheckStateRole));
    QCOMPARE(b->window->hub().comparedSessions().size(), size_t{2});
    auto* bests = b->window->findChild<QTreeView*>(QStringLiteral("table.compare.bests"))->model();
    QTRY_COMPARE(bests->columnCount(), 3);
    QCOMPARE(bests->rowCount(), 2);
    auto* chart = b->window->findChild<widgets::CurveChart*>(QStringLiteral("view.compare.chart"));
    QTRY_VERIFY(!chart->table().rows.empty());
    QVERIFY(b->window->findChild<QLabel*>(QStringLiteral("label.compare.verdict"))->text().contains(QStringLiteral("seed alone")));
  }

  void sessionsAreNamedGroupedDeletedAndBroughtBack() {
    auto b = openFake(database("keep.twdb"));
    b->engine.millisPerTrial = 0;
    auto& w = *b->window;
    setTrials(w, 40);
    for (int i = 1; i <= 3; ++i) {
      named<widgets::IntegerBox>(w, "edit.tune.seed")->setValue(i);
      w.startTuning();
      QTRY_COMPARE(w.tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(w.workspace().sessions().size(), static_cast<size_t>(i));
    }
    w.setPerspective(QStringLiteral("compare"));
    showDock(w, "dock.sessions");
    auto* table = named<QTreeView>(w, "table.sessions");
    auto* model = static_cast<widgets::SessionModel*>(table->model());
    const SessionId first = w.workspace().sessions()[0].id;
    table->setCurrentIndex(model->indexOf(first));
    QTRY_VERIFY(w.actions().get(QStringLiteral("session.rename"))->isEnabled());
    // The action opens its editor, and asked again leaves it open without a word.
    QTest::failOnWarning(QRegularExpression(QStringLiteral("editing failed")));
    for (int i = 0; i < 2; ++i) w.actions().get(QStringLiteral("session.rename"))->trigger();
    auto* editor = table->viewport()->findChild<QLineEdit*>();
    QVERIFY(editor);
    QTest::keyClick(editor, Qt::Key_Escape);
    QVERIFY(model->setData(model->indexOf(first), QStringLiteral("before"), Qt::EditRole));
    QTRY_COMPARE(w.workspace().sessions()[0].name, std::string("before"));
    QCOMPARE(SessionSet::nameOf(w.workspace().sessions()[0]), QStringLiteral("%1 before").arg(first.value));
    w.marks().setMark(QStringLiteral("session:%1").arg(first.value), {QStringLiteral("before"), {QStringLiteral("paper")}});
    QTRY_VERIFY(model->indexOf(first).parent().isValid());
    QTRY_VERIFY(!model->data(model->indexOf(first).siblingAtColumn(widgets::SessionModel::Task)).toString().isEmpty());

    QTRY_VERIFY(w.trials().store() && w.trials().store()->size() == 20);  // of the selected session
    w.hub().setSession({});
    QTRY_VERIFY(w.trials().store() && w.trials().store()->size() == 60);
    const qint64 all = trialsInTable(w);
    table->setCurrentIndex(model->indexOf(first).parent());  // the group
    QCOMPARE(w.hub().session(), SessionId());
    w.actions().get(QStringLiteral("session.delete"))->trigger();
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{2});
    QTRY_COMPARE(trialsInTable(w), all - 40);
    QTRY_COMPARE(w.trials().store() ? w.trials().store()->size() : 0, 40);
    QVERIFY(w.actions().get(QStringLiteral("edit.undo"))->isEnabled());
    w.actions().get(QStringLiteral("edit.undo"))->trigger();
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{3});
    QTRY_COMPARE(trialsInTable(w), all);
    QTRY_COMPARE(w.trials().store() ? w.trials().store()->size() : 0, 60);
    QCOMPARE(w.workspace().sessions()[0].name, std::string("before"));
    // By hand as well, and not while one is running.
    w.actions().get(QStringLiteral("edit.redo"))->trigger();
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{2});
    QTRY_VERIFY(w.actions().get(QStringLiteral("session.restore"))->isEnabled());
    w.actions().get(QStringLiteral("session.restore"))->trigger();
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{3});
    QTRY_VERIFY(!w.actions().get(QStringLiteral("session.restore"))->isEnabled());
  }

  void racesStandTogether() {
    auto b = openFake(database("races.twdb"));
    b->engine.millisPerTrial = 0;
    auto& w = *b->window;
    tune::SessionOptions options;
    options.trials = 40;
    w.setPerspective(QStringLiteral("compare"));
    w.race().start({w.hub().model(), {}, {"random", "xgb"}, 2, options, {}});
    QTRY_VERIFY(w.race().isActive());
    auto* answer = named<QLabel>(w, "label.compare.answer");
    QTRY_VERIFY(!w.race().isActive());
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{4});
    const auto* model = static_cast<widgets::SessionModel*>(named<QTreeView>(w, "table.sessions")->model());
    QTRY_COMPARE(model->rowCount(), 1);
    QCOMPARE(model->sessionsUnder(model->index(0, 0)).size(), size_t{4});
    QCOMPARE(model->rowCount(model->index(0, 0)), 2);
    QCOMPARE(w.race().secondsLeft(), -1.0);
    // The answer stands on top; medians are what is shown first.
    QTRY_VERIFY2(answer->isVisible() && answer->text().contains(QStringLiteral("median")), qPrintable(answer->text()));
    const auto* tuners = named<QTreeView>(w, "table.compare.tuners")->model();
    QTRY_COMPARE(tuners->rowCount(), 2);
    QCOMPARE(tuners->index(0, 1).data().toString(), QStringLiteral("2"));
  }

  void earlierSessionsComeBack() {
    {
      auto b = openFake(database("again.twdb"));
      b->engine.millisPerTrial = 0;
      setTrials(*b->window, 60);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
      b->window->close();
    }
    auto b = openFake(database("again.twdb"), false);
    QTRY_COMPARE(b->window->findChild<QTreeView*>(QStringLiteral("table.sessions"))->model()->rowCount(), 1);
    // Choosing the session opens its model and shows its trials.
    auto* table = b->window->findChild<QTreeView*>(QStringLiteral("table.sessions"));
    table->setCurrentIndex(table->model()->index(0, 0));
    QTRY_VERIFY(b->window->hub().model() && b->window->hub().model()->isWhole);
    QTRY_VERIFY(b->window->trials().store() && b->window->trials().store()->size() == 30);
  }

  void interruptedSessionsGoOn() {
    SessionId session;
    {
      auto b = openFake(database("resume.twdb"));
      b->engine.millisPerTrial = 2;
      setTrials(*b->window, 200);
      b->window->startTuning();
      QTRY_VERIFY(b->window->tuning().trialsDone() > 20);
      session = b->window->tuning().session();
      b->window->actions().get(QStringLiteral("tune.cancel"))->trigger();
      QTRY_VERIFY(!b->window->tuning().isActive());
      QVERIFY(b->window->workspace().database()->end_session(session, "interrupted"));  // as after a crash
      b->window->close();
    }
    QTest::qWait(400);  // nobody works
    auto b = openFake(database("resume.twdb"), false);
    b->engine.millisPerTrial = 0;
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
    const double worked = b->window->workspace().sessions()[0].worked_s();
    QVERIFY(worked > 0);
    auto* banner = b->window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    QTRY_VERIFY(banner->isVisible());
    QVERIFY(banner->text().contains(QStringLiteral("was interrupted after")));
    b->engine.millisPerTrial = 3;
    b->window->actions().get(QStringLiteral("tune.resume"))->trigger();  // opens its model first
    QTRY_COMPARE(b->window->tuning().session(), session);
    // What it had before is counted once, and is no work of now.
    QTRY_VERIFY(b->window->tuning().trialsDone() > 30 && !b->window->tuning().isCatchingUp());
    b->window->actions().get(QStringLiteral("tune.pause"))->trigger();
    const int polls = b->engine.pausedPolls;
    QTRY_VERIFY(b->engine.pausedPolls > polls + 50);
    QCOMPARE(trialsInTable(*b->window), b->window->tuning().trialsDone());
    QVERIFY(b->window->tuning().trialsPerSecond() * (b->window->tuning().elapsedSeconds() - worked) < static_cast<double>(b->window->tuning().trialsDone()) - 19);
    QVERIFY(b->window->tuning().elapsedSeconds() > worked);
    QCOMPARE(b->window->workspace().database()->sessions()->at(0).state, std::string("running"));
    b->engine.millisPerTrial = 0;
    b->window->actions().get(QStringLiteral("tune.pause"))->trigger();
    QTRY_VERIFY(!b->window->tuning().isActive());
    QCOMPARE(b->window->tuning().trialsDone(), 200);
    const auto stored = b->window->workspace().database()->trials(session, std::nullopt);
    QCOMPARE(stored->size(), size_t{200});
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
    QTRY_COMPARE(QString::fromStdString(b->window->workspace().sessions()[0].state), QStringLiteral("done"));
    QVERIFY(!b->window->actions().get(QStringLiteral("tune.resume"))->isEnabled());
    // The table and the run bar speak of the same time, in which neither the pause nor what lay between counts.
    const db::SessionRow& row = b->window->workspace().sessions()[0];
    QVERIFY(row.paused_s > 0.4);
    QVERIFY2(std::abs(row.worked_s() - b->window->tuning().elapsedSeconds()) < 0.3, qPrintable(QStringLiteral("%1 %2").arg(row.worked_s()).arg(b->window->tuning().elapsedSeconds())));
  }

  /// Another program writes; what it stored is all here.
  void whatCanOnlyBeReadIsShown() {
    auto writer = openFake(database("shared.twdb"));
    writer->engine.millisPerTrial = 0;
    setTrials(*writer->window, 60);
    writer->window->startTuning();
    QTRY_COMPARE(writer->window->tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(trialsInTable(*writer->window), 60);
    auto reader = openFake(database("shared.twdb"));
    QVERIFY(!reader->window->workspace().isWritable());
    QVERIFY(reader->window->findChild<widgets::Banner*>(QStringLiteral("banner"))->isVisible());
    QTRY_COMPARE(trialsInTable(*reader->window), 60);
  }

  void sessionsAreReported() {
    auto b = openFake(database("report.twdb"));
    QVERIFY(!b->window->actions().get(QStringLiteral("file.exportReport"))->isEnabled());
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 60);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_VERIFY(b->window->actions().get(QStringLiteral("file.exportReport"))->isEnabled());
    b->window->marks().setMark(QStringLiteral("session:%1").arg(b->window->tuning().session().value), {QStringLiteral("<First> try"), {}});
    const QString path = m_dir.filePath(QStringLiteral("report.html"));
    b->window->exportReport(path);
    QTRY_VERIFY(QFile::exists(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(file.readAll());
    QCOMPARE(page.count(QStringLiteral("<svg")), 2);  // one curve a task
    QVERIFY(page.contains(QStringLiteral("&lt;First&gt; try")));
    QVERIFY(page.contains(QStringLiteral("class=\"failed\" d=\"M")));
    QVERIFY(!page.contains(QStringLiteral("src=")) && !page.contains(QStringLiteral("href=")));
    // One of its trials.
    auto* exportTrial = b->window->actions().get(QStringLiteral("file.exportTrial"));
    b->window->hub().setTrial(TrialRef{b->window->tuning().session(), b->window->hub().task(), 2});
    b->window->actions().refresh();
    QVERIFY(exportTrial->isEnabled());
    const QString trialPath = m_dir.filePath(QStringLiteral("trial.html"));
    b->window->exportTrial(trialPath);
    QTRY_VERIFY(QFile::exists(trialPath));
    QFile trialFile(trialPath);
    QVERIFY(trialFile.open(QIODevice::ReadOnly));
    QVERIFY(QString::fromUtf8(trialFile.readAll()).contains(QStringLiteral("<h1>Trial 2 of ")));
  }

  void sessionsAreShared() {
    const QString bundle = m_dir.filePath(QStringLiteral("shared.twz"));
    {
      auto b = openFake(database("share.twdb"));
      b->engine.millisPerTrial = 0;
      setTrials(*b->window, 60);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
      QAction* share = b->window->actions().get(QStringLiteral("session.share"));
      named<QTreeView>(*b->window, "table.sessions")->clearSelection();
      b->window->actions().refresh();
      QVERIFY(!share->isEnabled());
      named<QTreeView>(*b->window, "table.sessions")->selectAll();
      QTRY_VERIFY(share->isEnabled());
      b->window->packSessions({b->window->workspace().sessions()[0].id}, bundle);
      QTRY_VERIFY(QFile::exists(bundle));
    }
    // Another workbench opens it as it is, for reading.
    auto reader = openFake(database("others.twdb"));
    reader->window->openAny(bundle);
    QTRY_COMPARE(reader->window->workspace().path(), bundle);
    QTRY_COMPARE(reader->window->workspace().sessions().size(), size_t{1});
    QVERIFY(!reader->window->workspace().isWritable());
    QTRY_COMPARE(trialsInTable(*reader->window), 60);
    // Without the network's file its tasks stand for it.
    FakeEngine engine;
    const auto window = openWindow(engine, database("empty.twdb"));
    window->openAny(bundle);
    QTRY_VERIFY(window->hub().model() && window->hub().model()->tasks.size() == 2);
    QVERIFY(window->hub().model()->network.imported.nodes.empty());
    QTRY_COMPARE(trialsInTable(*window), 60);
    // Whoever asks for a network with it gets that one.
    {
      const auto both = openWindow(engine, database("both.twdb"));
      connect(&both->workspace(), &Workspace::opened, both.get(), [&] { both->openZoo(QStringLiteral("fake"), false); }, Qt::SingleShotConnection);
      both->openAny(bundle);
      QTRY_VERIFY(both->hub().model() && both->hub().model()->isWhole && !both->models().isBusy() && !both->workspace().sessions().empty());
      QVERIFY(!both->hub().model()->network.imported.nodes.empty());
    }
    // They go with it: another workspace has other tasks under the same numbers.
    window->openAny(database("empty.twdb"));
    QTRY_VERIFY(window->workspace().isWritable());
    QVERIFY(!window->hub().model());
  }

  /// Sessions that a user has selected stay selected while others begin and end, and are sorted.
  void selectedSessionsStaySelected() {
    auto b = openFake(database("selected.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 20);
    for (size_t n = 1; n <= 3; ++n) {
      b->window->startTuning();
      QTRY_VERIFY(!b->window->tuning().isActive() && b->window->workspace().sessions().size() == n);
    }
    auto* view = b->window->findChild<SessionsView*>();
    auto* table = named<QTreeView>(*b->window, "table.sessions");
    const auto* model = static_cast<const widgets::SessionModel*>(table->model());
    const auto select = [&](int64_t id, QItemSelectionModel::SelectionFlags how) {
      table->selectionModel()->setCurrentIndex(model->indexOf(SessionId{id}), how | QItemSelectionModel::Rows);
    };
    select(1, QItemSelectionModel::ClearAndSelect);
    select(3, QItemSelectionModel::Select);
    const auto selected = [&] {
      std::set<SessionId> ids;
      for (const SessionId id : view->selected()) ids.insert(id);
      return ids;
    };
    const std::set<SessionId> both{SessionId{1}, SessionId{3}};
    QVERIFY(selected() == both);
    b->window->startTuning();
    QTRY_VERIFY(!b->window->tuning().isActive() && b->window->workspace().sessions().size() == 4);
    QVERIFY(selected() == both);
    table->sortByColumn(widgets::SessionModel::Best, Qt::AscendingOrder);
    QVERIFY(selected() == both);
  }
};

QTEST_MAIN(SessionsTest)
#include "sessions_test.moc"
