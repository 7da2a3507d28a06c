// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeView>
#include <QtTest>
#include <set>

#include "app/command_box.h"
#include "app/perspectives.h"
#include "app/pinned_view.h"
#include "app/views/code_dock.h"
#include "app/views/curve_view.h"
#include "app/views/graph_page.h"
#include "app/views/tune_view.h"
#include "tests/app/fake_engine.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/heat_map_view.h"
#include "widgets/charts/parallel_view.h"
#include "widgets/charts/prediction_chart.h"
#include "widgets/common/banner.h"
#include "widgets/graph/graph_view.h"
#include "widgets/ir/code_pane.h"
#include "widgets/ir/code_view.h"
#include "widgets/ir/pass_strip.h"

using namespace tw;
using namespace tw::app;

class MainWindowTest : public QObject {
  Q_OBJECT

  struct Bench {
    FakeEngine engine;
    std::unique_ptr<MainWindow> window;
  };

  std::unique_ptr<Bench> open(const QString& database, bool model = true) {
    auto bench = std::make_unique<Bench>();
    bench->window = std::make_unique<MainWindow>(bench->engine);
    bench->window->askQuit = [] { return MainWindow::QuitChoice::stop; };
    QSignalSpy opened(&bench->window->workspace(), &Workspace::opened);
    bench->window->openWorkspace(database);
    bench->window->show();
    if (opened.isEmpty()) opened.wait(5000);
    if (model) {
      QSignalSpy laidOut(&bench->window->graphPage(), &GraphPage::laidOut);
      bench->window->openZoo(QStringLiteral("fake"), false);
      if (laidOut.isEmpty()) laidOut.wait(5000);
    }
    return bench;
  }

  void setTrials(MainWindow& w, int trials) { w.findChild<QSpinBox*>(QStringLiteral("spin.tune.trials"))->setValue(trials); }

  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("tilewright-test"));
    QCoreApplication::setApplicationName(QStringLiteral("main-window-test"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_dir.path());
    widgets::applyTheme(widgets::ThemeChoice::light);
  }
  void init() { QSettings().clear(); }

  void emptyWindowSaysWhatToDo() {
    auto b = open(database("empty.twdb"), false);
    QVERIFY(b->window->findChild<QWidget*>(QStringLiteral("card.fake")));
    QAction* start = b->window->actions().get(QStringLiteral("tune.start"));
    QVERIFY(!start->isEnabled());
    QVERIFY(start->toolTip().contains(QStringLiteral("open a model")));
  }

  void modelFillsTheViews() {
    auto b = open(database("model.twdb"));
    const auto& model = b->window->hub().model();
    QVERIFY(model);
    QCOMPARE(model->tasks.size(), size_t{2});  // three equal relus, one tanh
    QCOMPARE(model->tasks[0].weight, 3);
    QCOMPARE(b->window->graphPage().view()->scene()->frames.size(), size_t{4});
    QCOMPARE(b->window->findChild<QTreeView*>(QStringLiteral("table.tasks"))->model()->rowCount(), 2);
    QTRY_VERIFY(b->engine.explained > 0);
    QTRY_VERIFY(b->window->codeDock().code()->pane(widgets::CodeView::Tir)->text().contains(QStringLiteral("def main")));
    QTRY_VERIFY(b->window->actions().get(QStringLiteral("tune.start"))->isEnabled());
  }

  void tuningShowsPointsAndStops() {
    auto b = open(database("tune.twdb"));
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
    QTRY_VERIFY(b->engine.pausedPolls > before + 60);
    QCOMPARE(tuning.trialsDone(), held);
    b->window->actions().get(QStringLiteral("tune.pause"))->trigger();
    QTRY_VERIFY(tuning.trialsDone() > held);
    b->window->actions().get(QStringLiteral("tune.cancel"))->trigger();
    QTRY_COMPARE(tuning.state(), TuneService::State::idle);
    QTRY_VERIFY(!b->window->workspace().sessions().empty());
    QTRY_COMPARE(QString::fromStdString(b->window->workspace().sessions()[0].state), QStringLiteral("cancelled"));
  }

  void allTrialsArriveAndAreStored() {
    auto b = open(database("all.twdb"));
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
    auto b = open(database("flood.twdb"));
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

  void filterLineKeepsTrialsAndNamesMistakes() {
    auto b = open(database("filter.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 120);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_VERIFY(b->window->trials().store() && b->window->trials().store()->size() == 60);
    QTRY_VERIFY(b->window->explaining().spacesKnown());
    auto* table = b->window->findChild<QTreeView*>(QStringLiteral("table.trials"));
    auto* filter = b->window->findChild<QLineEdit*>(QStringLiteral("edit.trials.filter"));
    auto* problem = b->window->findChild<QLabel*>(QStringLiteral("label.trials.problem"));
    filter->setText(QStringLiteral("status=failed"));
    QCOMPARE(table->model()->rowCount(), 10);
    filter->setText(QStringLiteral("a=4 & status=ok"));  // points 4, 14, 24 and so on; 5, 11, 17 and so on fail
    QCOMPARE(table->model()->rowCount(), 6);
    filter->setText(QStringLiteral("a=4 &"));
    QVERIFY(!problem->isHidden());
    QVERIFY(problem->text().startsWith(QStringLiteral("Expected")));
    QCOMPARE(table->model()->rowCount(), 6);  // the rows stay
    b->window->hub().undoStack().undo();
    QVERIFY(problem->isHidden());
    filter->clear();
    QCOMPARE(table->model()->rowCount(), 60);
  }

  void trialsStandSideBySide() {
    auto b = open(database("tray.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto* button = b->window->findChild<QToolButton*>(QStringLiteral("button.trials.tray"));
    auto* tray = b->window->findChild<QTreeView*>(QStringLiteral("table.tray"));
    for (const qint64 number : {2, 3}) {
      b->window->hub().setTrial(number);
      button->click();
    }
    QTRY_COMPARE(tray->model()->columnCount(), 3);
    QVERIFY(tray->model()->rowCount() >= 10);
    // Their code, the second against the first.
    b->window->hub().setTrial(7);
    b->window->findChild<QToolButton*>(QStringLiteral("button.tray.code"))->click();
    QCOMPARE(b->window->hub().trial(), 3);
    QTRY_VERIFY(b->window->codeDock().code()->diff() && b->window->codeDock().code()->diff()->against.startsWith(QStringLiteral("Trial 2 ")));
    b->window->findChild<QToolButton*>(QStringLiteral("button.tray.clear"))->click();
    QVERIFY(b->window->hub().tray().empty());
    QVERIFY(!tray->isVisible());
    QVERIFY(!b->window->actions().get(QStringLiteral("code.compareTray"))->isEnabled());
  }

  void selectingATrialShowsItsCode() {
    auto b = open(database("select.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_VERIFY(b->window->trials().store() && b->window->trials().store()->size() > 0);
    QSignalSpy explained(&b->window->explaining(), &ExplainService::explained);
    b->window->actions().get(QStringLiteral("trial.best"))->trigger();
    QTRY_VERIFY(!explained.isEmpty());
    QVERIFY(b->window->hub().trial() > 1);
    QTRY_COMPARE(b->window->hub().configIndex(), b->window->hub().trial());  // the fake numbers its points so
    QTRY_COMPARE(b->window->findChild<QLineEdit*>(QStringLiteral("edit.space.index"))->text(), QString::number(b->window->hub().trial()));
  }

  void editedPointsAreLoweredAndReasonsShown() {
    auto b = open(database("space.twdb"));
    QTRY_VERIFY(b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.a")));
    QTRY_VERIFY(b->engine.explained > 0);
    const int before = b->engine.explained;
    b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.a"))->setCurrentIndex(4);
    QCOMPARE(b->window->hub().configIndex(), 4);
    QTRY_VERIFY(b->engine.explained > before);
    auto* reason = b->window->findChild<QLabel*>(QStringLiteral("label.space.reason"));
    QTRY_VERIFY(reason->isHidden());
    b->window->hub().setConfigIndex(13);
    QTRY_VERIFY(reason->text().contains(QStringLiteral("40 vector registers")));
  }

  void everyTemplateOfATaskIsOffered() {
    auto b = open(database("templates.twdb"));
    auto* choice = b->window->findChild<QComboBox*>(QStringLiteral("combo.space.template"));
    QTRY_COMPARE(choice->count(), 2);
    auto* facts = b->window->findChild<QLabel*>(QStringLiteral("label.space.facts"));
    QTRY_VERIFY2(facts->text().contains(QStringLiteral("60.0 %")), qPrintable(facts->text()));
    QVERIFY(facts->text().contains(QStringLiteral("registers")));
    QTRY_VERIFY(b->engine.explained > 0);
    QTest::keyClick(choice, Qt::Key_Down);
    QTRY_VERIFY(b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.c")));
    QCOMPARE(b->window->explaining().space().name, std::string("other.cpu"));
    auto* lattice = b->window->findChild<QWidget*>(QStringLiteral("lattice.knob.c"));
    QVERIFY(lattice);
    const qint64 before = b->window->hub().configIndex();
    QTest::keyClick(lattice, Qt::Key_Right);
    QVERIFY(b->window->hub().configIndex() != before);
  }

  void aPointIsMeasuredByHand() {
    auto b = open(database("hand.twdb"));
    auto* measure = b->window->findChild<QToolButton*>(QStringLiteral("button.space.measure"));
    QTRY_VERIFY(b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.a")));
    b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.a"))->setCurrentIndex(4);
    // Not before the code is that of the point: what is shown is what is measured.
    measure->click();
    QVERIFY(b->window->hub().trial() < 0 && !measure->text().contains(QStringLiteral("Measuring")));
    QTRY_VERIFY2(measure->isEnabled() && !b->window->explaining().isPending(), qPrintable(measure->toolTip()));
    QSignalSpy selected(&b->window->hub(), &SelectionHub::trialChanged);
    measure->click();
    QVERIFY(!selected.isEmpty() || selected.wait(60'000));
    QCOMPARE(b->window->hub().trial(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(b->window->workspace().sessions().size(), size_t{1}, 60'000);
    QCOMPARE(b->window->workspace().sessions()[0].tuner, std::string("hand"));
    QTRY_VERIFY_WITH_TIMEOUT(b->window->trials().store() && b->window->trials().store()->size() == 1, 60'000);
    QTRY_VERIFY_WITH_TIMEOUT(measure->isEnabled() && !b->window->explaining().isPending(), 60'000);
    measure->click();  // the same point again is the first trial of another session
    QTRY_COMPARE_WITH_TIMEOUT(b->window->workspace().sessions().size(), size_t{2}, 60'000);
    b->window->hub().setConfigIndex(13);
    QTRY_VERIFY(!measure->isEnabled());
    QTRY_VERIFY(measure->toolTip().contains(QStringLiteral("nothing is shown")));
  }

  void whyAndLandscapeFollowTheSelection() {
    auto b = open(database("why.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 60);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    b->window->findChild<QDockWidget*>(QStringLiteral("dock.why"))->raise();
    b->window->findChild<QDockWidget*>(QStringLiteral("dock.landscape"))->raise();
    b->window->hub().setTrial(20);
    auto* title = b->window->findChild<QLabel*>(QStringLiteral("label.why.title"));
    QTRY_VERIFY2(title->text().contains(QStringLiteral("GFLOP/s")), qPrintable(title->text()));
    QTRY_VERIFY(b->window->findChild<QLabel*>(QStringLiteral("label.why.machine"))->text().contains(QStringLiteral("100")));
    auto* map = b->window->findChild<widgets::HeatMapView*>(QStringLiteral("view.space.heatmap"));
    QTRY_COMPARE(map->map().cells.size(), size_t{100});
    QVERIFY(map->summary().contains(QStringLiteral("cells tried")));
    auto* parallel = b->window->findChild<widgets::ParallelView*>(QStringLiteral("view.space.parallel"));
    Q_EMIT parallel->brushed(QStringLiteral("a>=5"));
    QTRY_COMPARE(b->window->findChild<QLineEdit*>(QStringLiteral("edit.trials.filter"))->text(), QStringLiteral("a>=5"));
    QTRY_VERIFY2(parallel->summary().contains(QStringLiteral(" of 29 trials kept")) && !parallel->summary().startsWith(QStringLiteral("29")),
                 qPrintable(parallel->summary()));
    b->window->hub().undoStack().undo();
    QCOMPARE(b->window->hub().filter(QStringLiteral("trials")), QString());
    // What is known of one task is never shown for another, and what cannot be built has a reason instead of an answer to wait for.
    QVERIFY(b->window->explaining().explanation());
    b->window->hub().setTask(1 - b->window->hub().task());
    QVERIFY(!b->window->explaining().explanation());
    QTRY_VERIFY(b->window->explaining().explanation());
    b->window->hub().setConfigIndex(13);
    QTRY_VERIFY(b->window->explaining().problem().contains(QStringLiteral("vector registers")));
    for (const char* view : {"why", "passes"}) {
      auto* dock = b->window->findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(view));
      dock->raise();
      const auto says = [&] {
        const auto labels = dock->findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
                           [](const QLabel* l) { return l->isVisible() && l->text() == QStringLiteral("This point cannot be built"); });
      };
      QTRY_VERIFY2(says(), view);
    }
  }

  void sessionsStandSideBySide() {
    auto b = open(database("compare.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    for (int i = 1; i <= 2; ++i) {
      b->window->findChild<QSpinBox*>(QStringLiteral("spin.tune.seed"))->setValue(i);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(b->window->workspace().sessions().size(), static_cast<size_t>(i));
    }
    b->window->findChild<QDockWidget*>(QStringLiteral("dock.compare"))->raise();
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

  void earlierSessionsComeBack() {
    {
      auto b = open(database("again.twdb"));
      b->engine.millisPerTrial = 0;
      setTrials(*b->window, 60);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
      QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
      b->window->close();
    }
    auto b = open(database("again.twdb"), false);
    QTRY_COMPARE(b->window->findChild<QTreeView*>(QStringLiteral("table.sessions"))->model()->rowCount(), 1);
    // Choosing the session opens its model and shows its trials.
    auto* table = b->window->findChild<QTreeView*>(QStringLiteral("table.sessions"));
    table->setCurrentIndex(table->model()->index(0, 0));
    QTRY_VERIFY(b->window->hub().model());
    QTRY_VERIFY(b->window->trials().store() && b->window->trials().store()->size() == 30);
  }

  void layoutAndThemePersist() {
    {
      auto b = open(database("persist.twdb"), false);
      b->window->findChild<QDockWidget*>(QStringLiteral("dock.log"))->close();
      b->window->setTheme(widgets::ThemeChoice::dark);
      b->window->resize(1111, 777);
      b->window->close();
    }
    auto b = open(database("persist.twdb"), false);
    QVERIFY(b->window->findChild<QDockWidget*>(QStringLiteral("dock.log"))->isHidden());
    QVERIFY(b->window->actions().get(QStringLiteral("view.theme.dark"))->isChecked());
    QCOMPARE(QSettings().value(QStringLiteral("workspace")).toString(), database("persist.twdb"));
    b->window->setTheme(widgets::ThemeChoice::light);
  }

  void closingWhileTuningStopsFirst() {
    auto b = open(database("close.twdb"));
    b->engine.millisPerTrial = 5;
    setTrials(*b->window, 10000);
    b->window->startTuning();
    QTRY_VERIFY(b->window->tuning().trialsDone() > 0);
    int asked = 0;
    b->window->askQuit = [&] { return ++asked > 1 ? MainWindow::QuitChoice::stop : MainWindow::QuitChoice::stay; };
    b->window->close();
    QVERIFY(b->window->isVisible());  // the answer was no
    QVERIFY(b->window->tuning().isActive());
    b->window->close();
    QTRY_VERIFY(!b->window->isVisible());
    QVERIFY(!b->window->tuning().isActive());
  }

  void errorsAppearInABanner() {
    auto b = open(database("error.twdb"));
    auto* banner = b->window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    b->window->openFile(QStringLiteral("/nowhere/model.onnx"));
    QTRY_VERIFY(banner->isVisible() && banner->text().contains(QStringLiteral("does not exist")));
    QVERIFY(b->window->hub().model());  // the open model stays
    banner->hide();
    b->engine.failTuning = true;
    setTrials(*b->window, 10);
    b->window->startTuning();
    QTRY_VERIFY(banner->isVisible());
    QVERIFY(banner->text().contains(QStringLiteral("worker program is missing")));
  }

  void damagedWorkspaceIsABanner() {
    QFile file(database("damaged.twdb"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(8192, 'x'));
    file.close();
    FakeEngine engine;
    MainWindow window(engine);
    QSignalSpy failed(&window.workspace(), &Workspace::failed);
    window.openWorkspace(file.fileName());
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!failed[0][1].toBool());
    QVERIFY(window.findChild<widgets::Banner*>(QStringLiteral("banner"))->text().contains(QStringLiteral("cannot be opened")));
  }

  void everyFocusableWidgetAndActionIsNamed() {
    auto b = open(database("names.twdb"));
    QTRY_VERIFY(b->window->findChild<QComboBox*>(QStringLiteral("combo.knob.a")));
    for (const QAction* action : b->window->actions().all()) {
      QVERIFY(action->objectName().startsWith(QStringLiteral("action.")));
      QVERIFY2(!action->toolTip().isEmpty(), qPrintable(action->objectName()));
    }
    for (const QWidget* w : b->window->findChildren<QWidget*>()) {
      if (!(w->focusPolicy() & Qt::TabFocus) || !w->isVisible() || w->objectName().startsWith(QStringLiteral("qt_")) || w->inherits("QTabBar")) continue;
      const bool inner = w->parentWidget() && (w->parentWidget()->inherits("QAbstractSpinBox") || w->parentWidget()->inherits("QComboBox") ||
                                               w->parentWidget()->inherits("QCustomPlot"));
      if (inner || w->inherits("QCustomPlot")) continue;
      QVERIFY2(!w->accessibleName().isEmpty(), qPrintable(QStringLiteral("%1 '%2' in '%3'")
                                                              .arg(QLatin1String(w->metaObject()->className()), w->objectName(),
                                                                   w->parentWidget() ? w->parentWidget()->objectName() : QString())));
    }
  }

  void everyActionStandsInAMenuAndShortcutsAreUnique() {
    auto b = open(database("actions.twdb"), false);
    QSet<QString> inMenus;
    for (const QMenu* menu : b->window->menuBar()->findChildren<QMenu*>()) {
      for (const QAction* action : menu->actions()) inMenus.insert(action->objectName());
    }
    QMap<QString, QString> keys;
    for (const QAction* action : b->window->actions().all()) {
      QVERIFY2(inMenus.contains(action->objectName()), qPrintable(action->objectName()));
      QVERIFY(!ActionRegistry::helpOf(action).isEmpty());
      QVERIFY2(action->isEnabled() || !ActionRegistry::whyNotOf(action).isEmpty(), qPrintable(action->objectName()));
      for (const QKeySequence& key : action->shortcuts()) {
        const QString text = key.toString();
        QVERIFY2(!keys.contains(text), qPrintable(text + QStringLiteral(": ") + action->objectName() + QStringLiteral(", ") + keys.value(text)));
        keys[text] = action->objectName();
      }
    }
  }

  void commandBoxFindsAndRuns() {
    auto b = open(database("commands.twdb"));
    CommandBox& box = b->window->commandBox();
    b->window->openCommandBox();
    auto* line = b->window->findChild<QLineEdit*>(QStringLiteral("edit.commands"));
    line->setText(QStringLiteral(">dark"));
    QCOMPARE(box.titles().value(0), QStringLiteral("Dark theme"));
    line->setText(QStringLiteral("#2"));
    QCOMPARE(box.titles().size(), 1);
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(b->window->hub().task(), 1);
    QVERIFY(!box.isVisible());
    QTRY_VERIFY(b->window->actions().get(QStringLiteral("go.back"))->isEnabled());
    b->window->openCommandBox(QStringLiteral(">back"));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(b->window->hub().task(), 0);
    // What cannot be done now says why and is not done.
    b->window->openCommandBox(QStringLiteral(">stop"));
    QVERIFY(box.titles().value(0).contains(QStringLiteral("Stop")));
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(box.isVisible());
    QTRY_VERIFY(b->window->explaining().explanation());
    line->setText(QStringLiteral(":2"));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(b->window->hub().place(), (widgets::CodePlace{widgets::CodeLanguage::tir, 1}));
    QVERIFY(b->window->findChild<QLabel*>(QStringLiteral("label.crumb"))->text().contains(QStringLiteral("TIR, line 2")));
  }

  void matchesPreferBeginnings() {
    QVERIFY(matchScore(QStringLiteral("dt"), QStringLiteral("Dark theme")) > matchScore(QStringLiteral("dt"), QStringLiteral("Reset the odd layout")));
    QVERIFY(matchScore(QStringLiteral("fit"), QStringLiteral("Fit graph")) > matchScore(QStringLiteral("fit"), QStringLiteral("Finish it")));
    QCOMPARE(matchScore(QStringLiteral("xyz"), QStringLiteral("Fit graph")), -1);
    QCOMPARE(matchScore(QString(), QStringLiteral("anything")), 0);
  }

  void notesAreKeptAndUndone() {
    {
      auto b = open(database("notes.twdb"));
      auto* note = b->window->findChild<QPlainTextEdit*>(QStringLiteral("edit.inspector.note"));
      auto* tags = b->window->findChild<QLineEdit*>(QStringLiteral("edit.inspector.tags"));
      b->window->hub().setTask(1);
      const QString noun = selectedNouns(b->window->hub()).back().id;
      QVERIFY(noun.startsWith(QStringLiteral("task:")));
      QVERIFY(note->isEnabled());
      note->setPlainText(QStringLiteral("Why so slow?"));
      tags->setText(QStringLiteral("slow, , slow, report"));
      QTRY_COMPARE(b->window->marks().mark(noun).note, QStringLiteral("Why so slow?"));
      QCOMPARE(b->window->marks().mark(noun).tags, (QStringList{QStringLiteral("slow"), QStringLiteral("report")}));
      QAction* undo = b->window->actions().get(QStringLiteral("edit.undo"));
      QVERIFY(undo->isEnabled());
      undo->trigger();
      QVERIFY(b->window->marks().mark(noun).isEmpty());
      QCOMPARE(note->toPlainText(), QString());
      b->window->actions().get(QStringLiteral("edit.redo"))->trigger();
      QCOMPARE(note->toPlainText(), QStringLiteral("Why so slow?"));
      b->window->close();
    }
    auto b = open(database("notes.twdb"));
    b->window->hub().setTask(1);
    QTRY_COMPARE(b->window->findChild<QPlainTextEdit*>(QStringLiteral("edit.inspector.note"))->toPlainText(), QStringLiteral("Why so slow?"));
  }

  void navigatorShowsAndSelects() {
    auto b = open(database("navigator.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto* tree = b->window->findChild<QTreeView*>(QStringLiteral("tree.navigator"));
    const auto child = [&](const QModelIndex& parent, int row) { return tree->model()->index(row, 0, parent); };
    QTRY_COMPARE(tree->model()->rowCount(), 1);
    QTRY_COMPARE(tree->model()->rowCount(child({}, 0)), 2);
    QTRY_COMPARE(tree->model()->rowCount(child(child({}, 0), 1)), 1);
    b->window->hub().setTask(0);
    tree->setCurrentIndex(child(child({}, 0), 1));
    QCOMPARE(b->window->hub().task(), 1);
    b->window->findChild<QLineEdit*>(QStringLiteral("edit.navigator.filter"))->setText(QStringLiteral("nothing like it"));
    QCOMPARE(tree->model()->rowCount(), 0);
  }

  void perspectivesKeepTheirArrangement() {
    auto b = open(database("perspectives.twdb"));
    const auto dock = [&](const char* name) { return b->window->findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(name)); };
    b->window->actions().get(QStringLiteral("view.perspective.code"))->trigger();
    QVERIFY(dock("curve")->isHidden());
    QVERIFY(!dock("code")->isHidden());
    dock("trials")->close();
    b->window->actions().get(QStringLiteral("view.perspective.tune"))->trigger();
    QVERIFY(!dock("curve")->isHidden());
    b->window->setPerspective(QStringLiteral("code"));
    QVERIFY(dock("trials")->isHidden());  // as it was left
    b->window->resetLayout();
    QVERIFY(!dock("trials")->isHidden());
    // Every view is in one perspective at least, and no perspective names what there is not.
    for (const PerspectiveDef& def : perspectives()) {
      for (const QString& name : def.shown + def.raised) QVERIFY2(dock(name.toLatin1().constData()), qPrintable(name));
    }
  }

  void pinnedCopiesKeepTheirSelection() {
    auto b = open(database("pin.twdb"));
    QTRY_VERIFY(b->window->codeDock().code()->pane(widgets::CodeView::Tir)->text().contains(QStringLiteral("def main")));
    b->window->activateWindow();
    b->window->findChild<QWidget*>(QStringLiteral("edit.code.tir"))->setFocus();
    QTRY_COMPARE(b->window->currentView(), static_cast<QWidget*>(&b->window->codeDock()));
    b->window->actions().get(QStringLiteral("view.pin"))->trigger();
    auto* pinned = b->window->findChild<PinnedView*>();
    QVERIFY(pinned);
    b->window->hub().setTask(1);
    QCOMPARE(pinned->hub().task(), 0);
    QCOMPARE(b->window->findChildren<CodeDock*>().size(), 2);
    b->window->resetLayout();
    QTRY_VERIFY(!b->window->findChild<PinnedView*>());
  }

  void viewsAreExported() {
    auto b = open(database("export.twdb"));
    QTRY_VERIFY(b->window->actions().get(QStringLiteral("tune.start"))->isEnabled());
    b->window->activateWindow();
    b->window->findChild<QTreeView*>(QStringLiteral("table.tasks"))->setFocus();
    QTRY_COMPARE(b->window->currentView()->objectName(), QStringLiteral("view.tasks"));
    const QString csv = m_dir.filePath(QStringLiteral("tasks.csv")), png = m_dir.filePath(QStringLiteral("tasks.png")),
                  svg = m_dir.filePath(QStringLiteral("tasks.svg"));
    for (const QString& path : {csv, png, svg}) b->window->exportCurrentView(path);
    QFile file(csv);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().count("\r\n"), 3);  // the head and two tasks
    const QImage image(png);
    QCOMPARE(image.width(), 2 * b->window->currentView()->width());
    QFile vectors(svg);
    QVERIFY(vectors.open(QIODevice::ReadOnly));
    QVERIFY(vectors.readAll().contains("<svg"));
    auto* banner = b->window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    b->window->exportCurrentView(m_dir.filePath(QStringLiteral("tasks.doc")));
    QVERIFY(banner->isVisible() && banner->text().contains(QStringLiteral(".csv")));
    b->window->actions().get(QStringLiteral("edit.copyView"))->trigger();
    QVERIFY(QApplication::clipboard()->mimeData()->hasImage());
    QVERIFY(QApplication::clipboard()->text().contains(QLatin1Char('\t')));
    b->window->actions().get(QStringLiteral("view.table"))->trigger();
    QCOMPARE(b->window->findChild<QTreeView*>(QStringLiteral("table.view"))->model()->rowCount(), 2);
  }

  void theWholeGraphIsExported() {
    auto b = open(database("graph-export.twdb"));
    b->window->activateWindow();
    auto* view = b->window->graphPage().view();
    view->setFocus();
    QTRY_COMPARE(b->window->currentView(), static_cast<QWidget*>(&b->window->graphPage()));
    view->zoomBy(8);  // most of it is out of sight
    const QString csv = m_dir.filePath(QStringLiteral("graph.csv")), png = m_dir.filePath(QStringLiteral("graph.png")),
                  svg = m_dir.filePath(QStringLiteral("graph.svg"));
    for (const QString& path : {csv, png, svg}) b->window->exportCurrentView(path);
    QCOMPARE(QImage(png).size(), (2 * view->pictureSize()).toSize());
    QFile table(csv), vectors(svg);
    QVERIFY(table.open(QIODevice::ReadOnly) && vectors.open(QIODevice::ReadOnly));
    QCOMPARE(table.readAll().count("\r\n"), 7);  // the head, four operators, input and output
    const QByteArray drawing = vectors.readAll();
    for (const char* text : {"tanh", "input", "output"}) QVERIFY2(drawing.contains(text), text);
  }

  void graphShowsBlocksAndOverlays() {
    auto b = open(database("overlays.twdb"));
    b->engine.millisPerTrial = 0;
    auto& page = b->window->graphPage();
    auto* shown = page.findChild<QComboBox*>(QStringLiteral("combo.graph.shown"));
    auto* overlay = page.findChild<QComboBox*>(QStringLiteral("combo.graph.overlay"));
    QVERIFY(page.view()->scene()->frames[0].title.startsWith(QStringLiteral("T1 \u00D73")));  // three equal kernels
    overlay->setCurrentIndex(2);
    QCOMPARE(page.view()->table().rows[0].last(), QStringLiteral("not tuned"));
    for (int session = 0; session < 2; ++session) {
      setTrials(*b->window, 20);
      b->window->startTuning();
      QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    }
    QTRY_COMPARE(page.view()->table().rows[0].last(), QString(QChar(0x2713)));
    overlay->setCurrentIndex(1);
    double sum = 0;
    for (const auto& row : page.view()->table().rows) sum += row[5].toDouble();
    QVERIFY2(std::abs(sum - 1) < 1e-6, qPrintable(QString::number(sum)));  // four operators, four kernels
    overlay->setCurrentIndex(3);
    QVERIFY(overlay->toolTip().contains(QStringLiteral("Tick two sessions")));
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{2});
    b->window->hub().setComparedSessions({b->window->workspace().sessions()[0].id, b->window->workspace().sessions()[1].id});
    QTRY_COMPARE(page.view()->table().rows[0][5].toDouble(), 1.0);  // the same times
    // Blocks open and close.
    QSignalSpy laidOut(&page, &GraphPage::laidOut);
    shown->setCurrentIndex(1);
    QTRY_COMPARE(laidOut.count(), 1);
    QCOMPARE(page.view()->scene()->nodes.size(), size_t{4});  // the block, tanh, input, output
    page.view()->setSelectedNode(0);
    QTest::keyClick(page.view(), Qt::Key_Return);
    QTRY_COMPARE(laidOut.count(), 2);
    QCOMPARE(page.view()->scene()->nodes.size(), size_t{6});
    page.view()->setSelectedNode(0);
    QTest::keyClick(page.view(), Qt::Key_Backspace);
    QTRY_COMPARE(laidOut.count(), 3);
    QCOMPARE(page.view()->scene()->nodes.size(), size_t{4});
    page.findChild<QToolButton*>(QStringLiteral("button.graph.openAll"))->click();
    QTRY_COMPARE(laidOut.count(), 4);
    QCOMPARE(page.view()->scene()->nodes.size(), size_t{6});
    page.findChild<QToolButton*>(QStringLiteral("button.graph.closeAll"))->click();
    QTRY_COMPARE(laidOut.count(), 5);
    QCOMPARE(page.view()->scene()->nodes.size(), size_t{4});
    shown->setCurrentIndex(3);
    QTRY_COMPARE(laidOut.count(), 6);
    QVERIFY(!overlay->isEnabled());
    QCOMPARE(page.view()->table().columns.size(), 5);
  }

  void predictionsStandAgainstMeasurements() {
    auto b = open(database("predictions.twdb"));
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
    options.tuner = "fancy";
    options.trials = 120;
    b->window->tuneView().setOptions(options);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(chart->rounds().size(), size_t{3});  // after 16, 32 and 48 of 60 trials
    QVERIFY(chart->isVisible());
    QCOMPARE(chart->rounds()[1].learned, 32);
    QCOMPARE(chart->rounds()[1].spearman, 1.0);  // the later the faster, as it said
    QCOMPARE(chart->rounds()[0].failed, 3);
    // What is stored says the same as what came live.
    const auto rounds = chart->rounds();
    b->window->hub().setSession({});
    QTRY_VERIFY(!chart->isVisible());
    b->window->hub().setSession(b->window->tuning().session());
    QTRY_COMPARE(chart->rounds().size(), rounds.size());
    QCOMPARE(chart->rounds()[2].points.size(), rounds[2].points.size());
    QCOMPARE(chart->table().columns.size(), 9);
  }

  void everyPageThatTheManualNamesIsThere() {
    const QRegularExpression link(QStringLiteral(R"(\]\(([^)#]+))"));
    QSet<QString> pages{QStringLiteral("/manual/workbench.md")};
    for (QStringList open = pages.values(); !open.isEmpty();) {
      const QString page = open.takeLast();
      QFile file(QLatin1Char(':') + page);
      QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(page));
      if (!page.endsWith(QStringLiteral(".md"))) continue;
      for (auto it = link.globalMatch(QString::fromUtf8(file.readAll())); it.hasNext();) {
        const QString target = it.next().captured(1);
        if (target.contains(QStringLiteral("://"))) continue;
        const QString path = QDir::cleanPath(QFileInfo(page).path() + QLatin1Char('/') + target);
        if (pages.contains(path)) continue;
        pages << path;
        open << path;
      }
    }
    QVERIFY(pages.size() >= 4);
  }

  void sessionsAreReported() {
    auto b = open(database("report.twdb"));
    QVERIFY(!b->window->actions().get(QStringLiteral("file.exportReport"))->isEnabled());
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 60);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    b->window->marks().setMark(QStringLiteral("session:%1").arg(b->window->hub().session().value), {QStringLiteral("<First> try"), {}});
    const QString path = m_dir.filePath(QStringLiteral("report.html"));
    b->window->exportReport(path);
    QTRY_VERIFY(QFile::exists(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(file.readAll());
    QCOMPARE(page.count(QStringLiteral("<svg")), 2);  // one curve a task
    QVERIFY(page.contains(QStringLiteral("&lt;First&gt; try")));
    QVERIFY(page.contains(QStringLiteral("class='failed' d='M")));
    QVERIFY(!page.contains(QStringLiteral("src=")) && !page.contains(QStringLiteral("href=")));
  }

  void codeIsComparedWithAnotherCandidate() {
    auto b = open(database("difference.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto& hub = b->window->hub();
    auto* code = b->window->codeDock().code();
    QVERIFY(!b->window->actions().get(QStringLiteral("code.nextChange"))->isEnabled());
    QVERIFY(!b->window->actions().get(QStringLiteral("code.keepBase"))->isEnabled());
    hub.setTrial(3);
    hub.setCodeBase({CodeBase::Kind::defaultSchedule, {}});
    QTRY_VERIFY(code->diff());
    QCOMPARE(code->diff()->against, QStringLiteral("Default schedule"));
    const auto& steps = code->diff()->forms[widgets::CodeView::Steps];
    QCOMPARE(steps.removed, 1);  // "default" became "split"
    QCOMPARE(steps.added, 1);
    QVERIFY(code->diff()->forms[widgets::CodeView::Assembly].changes.empty());
    QVERIFY(b->window->findChild<QWidget*>(QStringLiteral("bar.code.difference"))->isVisibleTo(&b->window->codeDock()));
    // A trial becomes the base of those selected next.
    b->window->actions().get(QStringLiteral("code.keepBase"))->trigger();
    QCOMPARE(hub.codeBase().trial, (TrialRef{hub.session(), hub.task(), 3}));
    hub.setTrial(4);
    QTRY_VERIFY(code->diff() && code->diff()->against.contains(QStringLiteral("Trial 3")));
    QTRY_VERIFY(code->diff() && code->diff()->forms[widgets::CodeView::Steps].changes.empty());
    // It belongs to its task.
    hub.setTask(1 - hub.task());
    QVERIFY(hub.codeBase() == CodeBase());
    QTRY_VERIFY(!code->diff());
    QVERIFY(!b->window->findChild<QWidget*>(QStringLiteral("bar.code.difference"))->isVisibleTo(&b->window->codeDock()));
  }

  void passesShowWhatEachOfThemChanged() {
    auto b = open(database("passes.twdb"));
    auto* dock = b->window->findChild<QDockWidget*>(QStringLiteral("dock.passes"));
    dock->hide();
    const int before = b->engine.traced;
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto& hub = b->window->hub();
    QCOMPARE(b->engine.traced.load(), before);  // nobody looks
    dock->show();
    dock->raise();
    hub.setTrial(3);
    auto* strip = dock->findChild<widgets::PassStrip*>();
    QTRY_COMPARE(strip->passes().size(), size_t{5});
    QTRY_COMPARE(b->window->explaining().title(), QStringLiteral("Trial 3 of session %1").arg(hub.session().value));
    QCOMPARE(strip->first(), 2);  // the first that changed something
    auto* text = dock->findChild<widgets::CodePane*>(QStringLiteral("view.passes.text"));
    QTRY_COMPARE(text->changeCount(), 1);
    QVERIFY(text->text().contains(QStringLiteral("line 1\n    line 1 unrolled")));
    b->window->actions().get(QStringLiteral("pass.next"))->trigger();
    QCOMPARE(strip->first(), 3);
    b->window->actions().get(QStringLiteral("pass.previous"))->trigger();
    b->window->actions().get(QStringLiteral("pass.previous"))->trigger();
    QCOMPARE(strip->last(), 1);
    QTRY_COMPARE(text->changeCount(), 0);
    QVERIFY(dock->findChild<QLabel*>(QStringLiteral("label.passes.range"))->text().contains(QStringLiteral("nothing")));
    // Where it parts from the default schedule.
    hub.setCodeBase({CodeBase::Kind::defaultSchedule, {}});
    auto* divergence = dock->findChild<QLabel*>(QStringLiteral("label.passes.divergence"));
    QTRY_VERIFY2(divergence->text().contains(QStringLiteral("from pass 3 on, pass_3")), qPrintable(divergence->text()));
    dock->findChild<QToolButton*>(QStringLiteral("button.passes.divergence"))->click();
    QCOMPARE(strip->first(), 3);
    QTRY_VERIFY(text->text().contains(QStringLiteral("    more")));
    QTRY_COMPARE(text->changeCount(), 1);
    // The network's own passes.
    dock->findChild<QComboBox*>(QStringLiteral("combo.passes.what"))->setCurrentIndex(1);
    QTRY_COMPARE(strip->passes().size(), size_t{2});
    QCOMPARE(strip->passes()[1].name, QStringLiteral("fuse_operators"));
    QTRY_VERIFY(text->text().contains(QStringLiteral("graph fused")));
  }

  void theSessionCanFinishWithoutAWindow() {
    auto b = open(database("background.twdb"));
    b->engine.millisPerTrial = 2;
    setTrials(*b->window, 60);
    b->window->startTuning();
    b->window->askQuit = [] { return MainWindow::QuitChoice::background; };
    b->window->close();
    QVERIFY(!b->window->isVisible());
    QTRY_VERIFY(!b->window->tuning().isActive());
    QCOMPARE(b->window->tuning().trialsDone(), 60);
  }

  void interruptedSessionsGoOn() {
    SessionId session;
    {
      auto b = open(database("resume.twdb"));
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
    auto b = open(database("resume.twdb"), false);
    b->engine.millisPerTrial = 0;
    auto* banner = b->window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    QTRY_VERIFY(banner->isVisible());
    QVERIFY(banner->text().contains(QStringLiteral("was interrupted after")));
    b->window->actions().get(QStringLiteral("tune.resume"))->trigger();  // opens its model first
    QTRY_COMPARE(b->window->tuning().session(), session);
    QTRY_VERIFY(!b->window->tuning().isActive());
    QCOMPARE(b->window->tuning().trialsDone(), 200);
    const auto stored = b->window->workspace().database()->trials(session, std::nullopt);
    QCOMPARE(stored->size(), size_t{200});
    QTRY_COMPARE(b->window->workspace().sessions().size(), size_t{1});
    QTRY_COMPARE(QString::fromStdString(b->window->workspace().sessions()[0].state), QStringLiteral("done"));
    QVERIFY(!b->window->actions().get(QStringLiteral("tune.resume"))->isEnabled());
  }

  void bigTypeIsKept() {
    const double size = QApplication::font().pointSizeF();
    {
      auto b = open(database("big.twdb"), false);
      b->window->actions().get(QStringLiteral("view.bigType"))->trigger();
      QVERIFY(QApplication::font().pointSizeF() > 1.3 * size);
      b->window->close();
    }
    auto b = open(database("big.twdb"), false);
    QVERIFY(b->window->actions().get(QStringLiteral("view.bigType"))->isChecked());
    b->window->setBigType(false);
    QCOMPARE(QApplication::font().pointSizeF(), size);
  }

  void picturesAreNotBlank() {
    auto b = open(database("picture.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    for (const auto theme : {widgets::ThemeChoice::light, widgets::ThemeChoice::dark}) {
      b->window->setTheme(theme);
      const QImage image = b->window->grab().toImage();
      std::set<QRgb> colours;
      for (int y = 0; y < image.height(); y += 5) {
        for (int x = 0; x < image.width(); x += 5) colours.insert(image.pixel(x, y));
      }
      QVERIFY2(colours.size() > 40, qPrintable(QString::number(colours.size())));
      QCOMPARE(widgets::themeOf(b->window.get()).dark, theme == widgets::ThemeChoice::dark);
    }
    b->window->setTheme(widgets::ThemeChoice::light);
  }
};

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
