// SPDX-License-Identifier: GPL-3.0-or-later
// Trials and points in the views: filtered, side by side, edited, measured, explained, compared.
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeView>

#include "app/views/code_dock.h"
#include "tests/app/fake_bench.h"
#include "widgets/charts/heat_map_view.h"
#include "widgets/charts/parallel_view.h"
#include "widgets/ir/code_pane.h"
#include "widgets/ir/code_view.h"
#include "widgets/ir/pass_strip.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class TrialsTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("trials-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void knobsShowThePointOfUntunedNetworks() {
    auto b = openFake(m_dir.filePath(QStringLiteral("rule.twdb")), false);
    b->engine.byRule = 42;
    b->window->openZoo(QStringLiteral("fake"), false);
    b->window->setPerspective(QStringLiteral("explore"));
    QTRY_VERIFY(b->window->hub().model() && b->window->hub().model()->isWhole);
    const auto* index = named<QLineEdit>(*b->window, "edit.space.index");
    QTRY_COMPARE(index->text(), QStringLiteral("42"));
    QCOMPARE(b->window->hub().configIndex(), -1);  // nothing was chosen
    b->window->hub().setConfigIndex(7);
    QTRY_COMPARE(index->text(), QStringLiteral("7"));
  }

  void filterLineKeepsTrialsAndNamesMistakes() {
    auto b = openFake(database("filter.twdb"));
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
    auto b = openFake(database("tray.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto* button = b->window->findChild<QToolButton*>(QStringLiteral("button.trials.tray"));
    auto* tray = b->window->findChild<QTreeView*>(QStringLiteral("table.tray"));
    QTRY_VERIFY(b->window->trials().store() && !b->window->trials().isLoading());
    for (const qint64 number : {2, 3}) {
      b->window->trials().choose(number);
      button->click();
    }
    QTRY_COMPARE(tray->model()->columnCount(), 3);
    QVERIFY(tray->model()->rowCount() >= 10);
    // Their code, the second against the first.
    b->window->trials().choose(7);
    b->window->findChild<QToolButton*>(QStringLiteral("button.tray.code"))->click();
    QCOMPARE(b->window->hub().trial(), 3);
    QTRY_VERIFY(b->window->codeDock().code()->diff() && b->window->codeDock().code()->diff()->against.startsWith(QStringLiteral("Trial 2 ")));
    b->window->findChild<QToolButton*>(QStringLiteral("button.tray.clear"))->click();
    QVERIFY(b->window->hub().tray().empty());
    QVERIFY(!tray->isVisible());
    QVERIFY(!b->window->actions().get(QStringLiteral("code.compareTray"))->isEnabled());
  }

  void selectingATrialShowsItsCode() {
    auto b = openFake(database("select.twdb"));
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
    auto b = openFake(database("space.twdb"));
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
    auto b = openFake(database("templates.twdb"));
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
    auto b = openFake(database("hand.twdb"));
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
    auto b = openFake(database("why.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 60);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    showDock(*b->window, "dock.why");
    showDock(*b->window, "dock.landscape");
    QTRY_VERIFY(b->window->trials().store() && !b->window->trials().isLoading());
    b->window->trials().choose(20);
    auto* title = b->window->findChild<QLabel*>(QStringLiteral("label.why.title"));
    QTRY_VERIFY2(title->text().contains(QStringLiteral("GFLOP/s")), qPrintable(title->text()));
    QTRY_VERIFY(b->window->findChild<QLabel*>(QStringLiteral("label.why.machine"))->text().contains(QStringLiteral("100")));
    auto* map = b->window->findChild<widgets::HeatMapView*>(QStringLiteral("view.space.heatmap"));
    QTRY_COMPARE(map->map().cells.size(), size_t{100});
    QVERIFY(map->summary().contains(QStringLiteral("cells tried")));
    auto* parallel = b->window->findChild<widgets::ParallelView*>(QStringLiteral("view.space.parallel"));
    auto* pictures = named<QTabWidget>(*b->window, "tabs.landscape");
    const auto* summary = named<QLabel>(*b->window, "label.landscape.summary");
    QVERIFY(summary->text().endsWith(map->summary()) && map->summary() != parallel->summary());
    pictures->setCurrentIndex(1);
    QVERIFY2(summary->text().endsWith(parallel->summary()), qPrintable(summary->text()));
    pictures->setCurrentIndex(0);
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
      dock->show();
      dock->raise();
      const auto says = [&] {
        const auto labels = dock->findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
                           [](const QLabel* l) { return l->isVisible() && l->text() == QStringLiteral("This point cannot be built"); });
      };
      QTRY_VERIFY2(says(), view);
    }
  }

  void codeIsComparedWithAnotherCandidate() {
    auto b = openFake(database("difference.twdb"));
    b->engine.millisPerTrial = 0;
    setTrials(*b->window, 40);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    auto& hub = b->window->hub();
    auto* code = b->window->codeDock().code();
    QVERIFY(!b->window->actions().get(QStringLiteral("code.nextChange"))->isEnabled());
    QVERIFY(!b->window->actions().get(QStringLiteral("code.keepBase"))->isEnabled());
    QTRY_VERIFY(b->window->trials().store() && !b->window->trials().isLoading());
    b->window->trials().choose(3);
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
    QCOMPARE(hub.codeBase().trial, (TrialRef{b->window->tuning().session(), hub.task(), 3}));
    QTRY_VERIFY(b->window->trials().store() && !b->window->trials().isLoading());
    b->window->trials().choose(4);
    QTRY_VERIFY(code->diff() && code->diff()->against.contains(QStringLiteral("Trial 3")));
    QTRY_VERIFY(code->diff() && code->diff()->forms[widgets::CodeView::Steps].changes.empty());
    // It belongs to its task.
    hub.setTask(1 - hub.task());
    QVERIFY(hub.codeBase() == CodeBase());
    QTRY_VERIFY(!code->diff());
    QVERIFY(!b->window->findChild<QWidget*>(QStringLiteral("bar.code.difference"))->isVisibleTo(&b->window->codeDock()));
  }

  void passesShowWhatEachOfThemChanged() {
    auto b = openFake(database("passes.twdb"));
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
    dock->show();
    dock->raise();
    QTRY_VERIFY(b->window->trials().store() && !b->window->trials().isLoading());
    b->window->trials().choose(3);
    auto* strip = dock->findChild<widgets::PassStrip*>();
    QTRY_COMPARE(strip->passes().size(), size_t{5});
    QTRY_COMPARE(b->window->explaining().title(), QStringLiteral("Trial 3 of session %1").arg(b->window->tuning().session().value));
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
    QVERIFY(text->table().columns.back().contains(QStringLiteral("nothing")));
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
    QTRY_VERIFY(text->text().contains(QStringLiteral("graph \"fused\"")));
  }
};

QTEST_MAIN(TrialsTest)
#include "trials_test.moc"
