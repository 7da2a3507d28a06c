// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection_hub.h"

#include <QtTest>

using namespace tw;
using namespace tw::app;
using widgets::CodeLanguage;
using widgets::CodePlace;

class SelectionHubTest : public QObject {
  Q_OBJECT

  /// Three tasks; node 0 and 1 are of task 0 and 2, node 2 of none.
  static OpenModelPtr model() {
    auto m = std::make_shared<OpenModel>();
    m->tasks.resize(3);
    m->groupOfNodes = {0, 1, 2};
    m->taskOfGroup = {0, 2, -1};
    return m;
  }
  /// Lets what was chosen become an entry of the history.
  static void settle() { QCoreApplication::processEvents(); }

 private Q_SLOTS:
  void aModelSelectsItsFirstTask() {
    SelectionHub hub;
    QSignalSpy task(&hub, &SelectionHub::taskChanged), models(&hub, &SelectionHub::modelChanged);
    hub.setModel(model());
    QCOMPARE(hub.task(), 0);
    QCOMPARE(task.count(), 1);
    QCOMPARE(models.count(), 1);
    hub.setTask(0);  // nothing changes
    hub.setTask(3);  // there is none
    QCOMPARE(task.count(), 1);
    QVERIFY(!hub.canGoBack());
  }

  void aNodeSelectsItsTask() {
    SelectionHub hub;
    hub.setModel(model());
    hub.setNode(1);
    QCOMPARE(hub.task(), 2);
    hub.setNode(2);  // of no task: the task stays
    QCOMPARE(hub.task(), 2);
    QCOMPARE(hub.node(), 2);
  }

  void aTaskDropsTrialPointAndPlace() {
    SelectionHub hub;
    hub.setModel(model());
    hub.setTrial(4);
    hub.noteConfigIndex(77);
    hub.setPlace({CodeLanguage::assembly, 12});
    QSignalSpy place(&hub, &SelectionHub::placeChanged);
    hub.setTask(1);
    QCOMPARE(hub.trial(), -1);
    QCOMPARE(hub.configIndex(), -1);
    QVERIFY(hub.place().isNull());
    QCOMPARE(place.count(), 1);
  }

  void aPointByHandIsNotATrial() {
    SelectionHub hub;
    hub.setModel(model());
    hub.setTrial(4);
    QSignalSpy edited(&hub, &SelectionHub::configEdited), trial(&hub, &SelectionHub::trialChanged);
    hub.setConfigIndex(9);
    QVERIFY(hub.isConfigEdited());
    QCOMPARE(hub.trial(), -1);
    QCOMPARE(edited.count(), 1);
    QCOMPARE(trial.count(), 1);
    hub.setTrial(5);
    QVERIFY(!hub.isConfigEdited());
  }

  void backAndForwardRestoreEverything() {
    SelectionHub hub;
    hub.setMergeMillis(0);
    hub.setModel(model());
    settle();
    hub.setTrial({SessionId{7}, 2, 31});  // one click, one entry
    settle();
    hub.setPlace({CodeLanguage::tir, 5});
    settle();
    hub.setConfigIndex(8);
    settle();
    hub.back();
    QCOMPARE(hub.trial(), 31);
    QCOMPARE(hub.place(), (CodePlace{CodeLanguage::tir, 5}));
    QVERIFY(!hub.isConfigEdited());
    hub.back();
    QVERIFY(hub.place().isNull());
    QCOMPARE(hub.trialRef(), (TrialRef{SessionId{7}, 2, 31}));
    QCOMPARE(hub.session(), SessionId{});  // a trial is chosen among those of all sessions
    hub.back();
    QCOMPARE(hub.task(), 0);
    QCOMPARE(hub.session(), SessionId{});
    QCOMPARE(hub.trial(), -1);
    QVERIFY(!hub.canGoBack());
    hub.back();  // stays
    for (int i = 0; i < 3; ++i) hub.forward();
    QCOMPARE(hub.configIndex(), 8);
    QVERIFY(hub.isConfigEdited());
    QVERIFY(!hub.canGoForward());
    // A new choice cuts off what was ahead.
    hub.back();
    hub.setTask(1);
    settle();
    QVERIFY(!hub.canGoForward());
    hub.back();
    QCOMPARE(hub.trial(), 31);
  }

  void backRightAfterAChoiceUndoesIt() {
    SelectionHub hub;
    hub.setMergeMillis(0);
    hub.setModel(model());
    hub.setTask(1);
    hub.back();
    QCOMPARE(hub.task(), 0);
  }

  void everyChangeOfTheWayBackIsSignalled() {
    SelectionHub hub;
    hub.setMergeMillis(0);
    hub.setModel(model());
    hub.setNode(1);
    hub.setSession(SessionId{7});
    hub.setTrial({SessionId{7}, 2, 31});
    hub.setPlace({CodeLanguage::steps, 0});
    settle();
    QSignalSpy node(&hub, &SelectionHub::nodeChanged), task(&hub, &SelectionHub::taskChanged), session(&hub, &SelectionHub::sessionChanged),
        trial(&hub, &SelectionHub::trialChanged), place(&hub, &SelectionHub::placeChanged), edited(&hub, &SelectionHub::configEdited);
    hub.back();
    for (const QSignalSpy* spy : {&node, &task, &session, &trial, &place}) QCOMPARE(spy->count(), 1);
    QCOMPARE(edited.count(), 0);
  }

  void listenersThatSelectDoNotDisturbTheWayBack() {
    SelectionHub hub;
    hub.setMergeMillis(0);
    hub.setModel(model());
    settle();
    hub.setTrial({SessionId{7}, 1, 3});
    settle();
    hub.setTask(2);
    settle();
    // As a table that selects its first row when its contents change.
    connect(&hub, &SelectionHub::taskChanged, &hub, [&hub] { hub.setTrial(99); });
    hub.back();
    QCOMPARE(hub.task(), 1);
    QCOMPARE(hub.trial(), 3);
    settle();
    QVERIFY(hub.canGoForward());
  }

  void whatIsFollowedMakesNoEntry() {
    SelectionHub hub;
    hub.setMergeMillis(0);
    hub.setModel(model());
    settle();
    hub.setTask(1, SelectionHub::Way::followed);
    hub.setSession(SessionId{3}, SelectionHub::Way::followed);
    settle();
    QVERIFY(!hub.canGoBack());
    hub.setTrial(2);
    settle();
    hub.back();
    QCOMPARE(hub.task(), 1);  // where the view had followed to
    QCOMPARE(hub.trial(), -1);
  }

  void aHeldKeyIsOneEntry() {
    SelectionHub hub;
    hub.setMergeMillis(60'000);
    hub.setModel(model());
    settle();
    for (int n = 1; n < 50; ++n) {
      hub.setTrial(n);
      settle();
    }
    hub.back();
    QCOMPARE(hub.trial(), -1);
    hub.forward();
    QCOMPARE(hub.trial(), 49);
  }

  void anotherModelHasAHistoryOfItsOwn() {
    SelectionHub hub;
    hub.setModel(model());
    hub.setTask(1);
    hub.toggleTray({SessionId{1}, 1, 1});
    hub.setModel(model());
    QVERIFY(!hub.canGoBack());
    QVERIFY(hub.tray().empty());
    QVERIFY(!hub.undoStack().canUndo());
  }

  void filtersAreUndone() {
    SelectionHub hub;
    QSignalSpy changed(&hub, &SelectionHub::filterChanged);
    hub.setFilter(QStringLiteral("trials"), QStringLiteral("gflops>5"));
    hub.setFilter(QStringLiteral("trials"), QStringLiteral("gflops>50"));  // typed on: one edit
    hub.setFilter(QStringLiteral("sessions"), QStringLiteral("ga"));
    QCOMPARE(hub.undoStack().count(), 2);
    QCOMPARE(changed.count(), 3);
    hub.setFilter(QStringLiteral("sessions"), QStringLiteral("ga"));  // nothing changes
    QCOMPARE(changed.count(), 3);
    hub.undoStack().undo();
    QCOMPARE(hub.filter(QStringLiteral("sessions")), QString());
    hub.undoStack().undo();
    QCOMPARE(hub.filter(QStringLiteral("trials")), QString());
    hub.undoStack().redo();
    QCOMPARE(hub.filter(QStringLiteral("trials")), QStringLiteral("gflops>50"));
    QCOMPARE(changed.back()[0].toString(), QStringLiteral("trials"));
  }

  void theTrayHoldsFourAndIsUndone() {
    SelectionHub hub;
    hub.setModel(model());
    for (qint64 n = 1; n <= 5; ++n) hub.toggleTray({SessionId{1}, 0, n});
    QCOMPARE(hub.tray().size(), size_t{4});
    QCOMPARE(hub.tray().front().number, 2);
    hub.toggleTray({SessionId{1}, 0, 3});
    QCOMPARE(hub.tray().size(), size_t{3});
    hub.undoStack().undo();
    QCOMPARE(hub.tray().size(), size_t{4});
    hub.setComparedSessions({SessionId{1}, SessionId{2}});
    hub.undoStack().undo();
    QVERIFY(hub.comparedSessions().empty());
    hub.setCodeBase({CodeBase::Kind::best, {}});
    hub.setCodeBase({CodeBase::Kind::defaultSchedule, {}});
    hub.undoStack().undo();
    QCOMPARE(hub.codeBase().kind, CodeBase::Kind::best);
    hub.undoStack().redo();
    QCOMPARE(hub.codeBase().kind, CodeBase::Kind::defaultSchedule);
  }
};

QTEST_GUILESS_MAIN(SelectionHubTest)
#include "selection_hub_test.moc"
