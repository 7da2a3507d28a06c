// SPDX-License-Identifier: GPL-3.0-or-later
// Networks of several targets, and several networks, one after the other: whose target, session and times it is that are shown, stored and gone on with.
#include <QComboBox>
#include <QLabel>
#include <QTreeView>

#include "app/views/import_dialog.h"
#include "app/views/race_dialog.h"
#include "engine/measure/device.h"
#include "tests/app/fake_bench.h"
#include "widgets/common/banner.h"
#include "widgets/tuning/task_model.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class NetworkTargetsTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

  static constexpr const char* kSimulated = "cuda:a100";

  static void open(MainWindow& w, const char* network) {
    w.openZoo(QLatin1String(network), false);
    QTRY_VERIFY(w.hub().model() && w.hub().model()->isWhole && w.hub().model()->name == QLatin1String(network) && !w.models().isBusy());
  }
  static void choose(MainWindow& w, const char* target) {
    auto* targets = named<QComboBox>(w, "combo.run.target");
    const int at = targets->findData(QLatin1String(target));
    QVERIFY(at >= 0);
    targets->setCurrentIndex(at);
    Q_EMIT targets->activated(at);
  }
  /// A session of the network on screen that is stopped on its way.
  static void begin(FakeEngine& engine, MainWindow& w) {
    engine.millisPerTrial = 3;
    setTrials(w, 4000);
    w.startTuning();
    QTRY_VERIFY(w.tuning().trialsDone() > 2 && w.tuning().session());
  }
  static void stop(MainWindow& w) {
    w.tuning().cancel();
    QTRY_VERIFY(!w.tuning().isActive() && !w.workspace().sessions().empty() && w.workspace().sessions().back().state == "cancelled");
  }
  static void measure(MainWindow& w, qint64 point) {
    QTRY_VERIFY(w.explaining().spacesKnown());
    w.hub().setConfigIndex(point);
    auto* button = named<QToolButton>(w, "button.space.measure");
    QTRY_VERIFY(button->isEnabled() && !w.explaining().isPending());
    const qint64 before = w.hub().trial();
    button->click();
    QTRY_VERIFY(w.hub().trial() != before && button->isEnabled());
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("network-targets-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  /// A target for which the network cannot be opened, or not to the end, is not the window's.
  void whatCannotBeOpenedLeavesTheTarget() {
    auto b = openFake(database("fails.twdb"), false);
    MainWindow& w = *b->window;
    QFile file(m_dir.filePath(QStringLiteral("own.onnx")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    w.openFile(file.fileName());
    QTRY_VERIFY(w.hub().model() && w.hub().model()->isWhole);
    auto* targets = named<QComboBox>(w, "combo.run.target");
    const QString before = targets->currentText();
    const std::string here = b->engine.target().str();
    QVERIFY(file.remove());
    choose(w, kSimulated);
    QTRY_VERIFY(named<widgets::Banner>(w, "banner")->text().contains(QStringLiteral("does not exist")));
    QCOMPARE(targets->currentText(), before);
    QCOMPARE(b->engine.target().str(), here);
    QCOMPARE(w.hub().model()->target.str(), here);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.close();
    b->engine.holdTasks = true;
    choose(w, kSimulated);
    QTRY_VERIFY(w.hub().model() && !w.hub().model()->isWhole);
    w.models().cancel();
    QCOMPARE(b->engine.target().str(), here);
    b->engine.holdTasks = false;
    open(w, "fake");
    choose(w, kSimulated);
    QTRY_VERIFY(w.hub().model()->isWhole && w.hub().model()->target.gpu);
    QVERIFY(b->engine.target().gpu);
  }

  /// A lesson may have chosen another target for what is opened next.
  void timesAreOfTheNetworksTarget() {
    auto b = openFake(database("device.twdb"));
    MainWindow& w = *b->window;
    w.setTarget(*parse_target(kSimulated));
    QVERIFY(named<QLabel>(w, "status.device")->isHidden());
    measure(w, 35);
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{1});
    QCOMPARE(w.workspace().sessions()[0].kind, db::TimeKind::measured);
    showDock(w, "dock.why");
    QTRY_VERIFY(named<QLabel>(w, "label.why.machine")->text().startsWith(QStringLiteral("Roofs as measured")));
    QCOMPARE(b->engine.gpuRoofs, 0);
  }

  /// Tasks that stand for a log have no network that could be opened for another target.
  void tasksOfALogKeepTheirTarget() {
    auto b = openFake(database("log.twdb"), false);
    MainWindow& w = *b->window;
    const std::string path = m_dir.filePath(QStringLiteral("gone.json")).toStdString();
    const ModelId id = w.workspace().database()->put_model("log", path, "log:1", Json{{"log", "ansor"}}).value();
    w.workspace().refreshSessions();
    QTRY_COMPARE(w.workspace().models().size(), size_t{1});
    w.models().openStored(id);
    QTRY_VERIFY(w.hub().model());
    const OpenModelPtr model = w.hub().model();
    choose(w, kSimulated);
    QVERIFY2(named<widgets::Banner>(w, "banner")->text().contains(QStringLiteral("those of a log")), qPrintable(named<widgets::Banner>(w, "banner")->text()));
    QVERIFY(!w.findChild<ImportDialog*>());
    QCOMPARE(w.hub().model(), model);
    QVERIFY(!b->engine.target().gpu);
  }

  /// A session goes on for its target, not for that of the network on screen.
  void aSessionGoesOnForItsTarget() {
    auto b = openFake(database("resume.twdb"), false);
    MainWindow& w = *b->window;
    w.setTarget(*parse_target(kSimulated));
    open(w, "fake");
    begin(b->engine, w);
    stop(w);
    choose(w, "llvm");
    QTRY_VERIFY(w.hub().model()->isWhole && !w.hub().model()->target.gpu);
    const db::SessionRow row = w.workspace().sessions()[0];
    // Whoever mixes them is told.
    QSignalSpy failed(&w.tuning(), &TuneService::failed);
    w.tuning().resume(w.hub().model(), row);
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY2(failed[0][0].toString().contains(QStringLiteral("cannot go on for 'llvm")), qPrintable(failed[0][0].toString()));
    w.hub().setSession(row.id);
    w.actions().get(QStringLiteral("tune.resume"))->trigger();
    QTRY_VERIFY(w.tuning().isActive() && w.tuning().trialsDone() > row.trials);
    QVERIFY(w.tuning().model()->target.gpu && w.hub().model() == w.tuning().model());
    stop(w);
    QCOMPARE(w.workspace().sessions().size(), size_t{1});
  }

  /// What was to happen with a network once it is open does not when it is opened later, for something else.
  void aStoppedOpeningIsForgotten() {
    auto b = openFake(database("forgotten.twdb"));
    MainWindow& w = *b->window;
    begin(b->engine, w);
    stop(w);
    const db::SessionRow row = w.workspace().sessions()[0];
    for (const bool byAnother : {false, true}) {
      open(w, "other");
      w.hub().setSession(row.id);
      b->engine.holdTasks = true;
      w.actions().get(QStringLiteral("tune.resume"))->trigger();
      QTRY_VERIFY(w.hub().model() && w.hub().model()->name == QStringLiteral("fake"));
      if (!byAnother) w.models().cancel();
      b->engine.holdTasks = false;
      if (byAnother) open(w, "other");
      QVERIFY(!named<widgets::Banner>(w, "banner")->text().contains(QStringLiteral("has changed")));
      open(w, "fake");
      QVERIFY(!w.tuning().isActive());
    }
  }

  void aStoppedOpeningOpensNoRace() {
    auto b = openFake(database("race.twdb"), false);
    MainWindow& w = *b->window;
    b->engine.holdTasks = true;
    QVERIFY(click(w, "card.compare"));
    QTRY_VERIFY(w.hub().model());
    w.models().cancel();
    b->engine.holdTasks = false;
    open(w, "fake");
    QTest::qWait(20);
    QVERIFY(!w.findChild<RaceDialog*>());
    w.actions().get(QStringLiteral("file.close"))->trigger();
    QVERIFY(click(w, "card.compare"));
    QTRY_VERIFY(w.findChild<RaceDialog*>());
  }

  /// Points are measured into sessions of their own network, target and workspace.
  void pointsByHandStayApart() {
    {
      auto b = openFake(database("strange.twdb"));
      begin(b->engine, *b->window);
      stop(*b->window);
    }
    auto b = openFake(database("apart.twdb"));
    MainWindow& w = *b->window;
    measure(w, 35);
    measure(w, 36);
    QTRY_VERIFY(w.workspace().sessions().size() == 1 && w.workspace().sessions()[0].trials == 2);
    choose(w, kSimulated);
    QTRY_VERIFY(w.hub().model()->isWhole && w.hub().model()->target.gpu);
    measure(w, 37);
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{2});
    choose(w, "llvm");
    QTRY_VERIFY(w.hub().model()->isWhole && !w.hub().model()->target.gpu);
    w.openWorkspace(database("strange.twdb"));
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{1});
    const int64_t trials = w.workspace().sessions()[0].trials;
    QTRY_VERIFY(w.hub().model()->isWhole && !w.models().isBusy());
    measure(w, 38);
    QTRY_COMPARE(w.workspace().sessions().size(), size_t{2});
    QCOMPARE(w.workspace().sessions()[0].trials, trials);
  }

  /// While a session tunes one network, another one shows what is known of its tasks.
  void anotherNetworkShowsItsTasks() {
    auto b = openFake(database("beside.twdb"));
    MainWindow& w = *b->window;
    const auto trials = [&] {
      const QAbstractItemModel* tasks = named<QTreeView>(w, "table.tasks")->model();
      qint64 sum = 0;
      for (int row = 0; row < tasks->rowCount(); ++row) sum += tasks->index(row, widgets::TaskModel::Trials).data(widgets::TaskModel::SortRole).toLongLong();
      return sum;
    };
    setTrials(w, 40);
    b->engine.millisPerTrial = 0;
    w.startTuning();
    QTRY_VERIFY(!w.tuning().isActive());
    QTRY_COMPARE(trials(), 40);
    open(w, "other");
    begin(b->engine, w);
    open(w, "fake");
    QTRY_VERIFY2(trials() >= 40, qPrintable(QString::number(trials())));  // more, as both networks have the same tasks
    QVERIFY(w.tuning().isActive());
    stop(w);
  }

  /// A network that ran as a whole is not the one that was opened meanwhile.
  void finalsAreOfTheirNetwork() {
    auto b = openFake(database("finals.twdb"));
    MainWindow& w = *b->window;
    const OpenModelPtr first = w.hub().model();
    open(w, "other");
    const api::NetworkFinals finals{.measured = true, .default_s = 2e-3, .tuned_s = 1e-3};
    const auto* text = named<QLabel>(w, "label.build.run");
    Q_EMIT w.finals().finished(first, finals);
    QVERIFY2(text->text().isEmpty(), qPrintable(text->text()));
    Q_EMIT w.finals().finished(w.hub().model(), finals);
    QVERIFY(!text->text().isEmpty());
  }
};

QTEST_MAIN(NetworkTargetsTest)
#include "network_targets_test.moc"
