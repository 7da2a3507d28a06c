// SPDX-License-Identifier: GPL-3.0-or-later
// Menus on nodes, tasks, trials and sessions: opened as people open them, and each entry chosen by a click on it.
#include <QContextMenuEvent>
#include <QDialog>
#include <QDockWidget>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QTreeView>

#include "app/views/code_dock.h"
#include "tests/app/fake_bench.h"
#include "widgets/graph/graph_scene.h"
#include "widgets/graph/graph_view.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class ContextMenusTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  std::unique_ptr<FakeBench> m_bench;
  QStringList m_dialogs;  ///< that opened since the last choice, which were left at once
  QTimer m_leave;

  MainWindow& window() { return *m_bench->window; }
  static QMenu* menuAt(QWidget* on, QPoint at) {
    QTest::mouseClick(on, Qt::RightButton, Qt::NoModifier, at);
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, on->mapToGlobal(at));
    QApplication::sendEvent(on, &event);
    return QTest::qWaitFor([] { return qobject_cast<QMenu*>(QApplication::activePopupWidget()) != nullptr; }, 2000) ? qobject_cast<QMenu*>(QApplication::activePopupWidget()) : nullptr;
  }
  static QMenu* menuOn(QTreeView* table, const QModelIndex& row) {
    table->scrollTo(row);
    return menuAt(table->viewport(), table->visualRect(row).center());
  }
  static QString nameOf(const QAction& action) { return action.objectName().remove(QStringLiteral("action.")); }
  static QStringList entriesOf(const QMenu& menu) {
    QStringList names;
    for (const QAction* action : menu.actions())
      if (!action->isSeparator()) names << nameOf(*action);
    return names;
  }
  /// Opens the menu by `open` and clicks on an entry; false if it is not there or cannot be chosen.
  bool choose(const std::function<QMenu*()>& open, const QString& entry) {
    QMenu* menu = open();
    if (!menu) return false;
    m_dialogs.clear();
    for (QAction* action : menu->actions()) {
      if (action->isSeparator() || (nameOf(*action) != entry && action->text() != entry)) continue;
      if (!action->isEnabled()) break;
      QSignalSpy triggered(action, &QAction::triggered);
      QTest::mouseClick(menu, Qt::LeftButton, Qt::NoModifier, menu->actionGeometry(action).center());
      return QTest::qWaitFor([&] { return triggered.count() == 1; }, 2000);
    }
    menu->close();
    return false;
  }
  bool isInFront(const char* dock) { return !named<QDockWidget>(window(), dock)->visibleRegion().isEmpty(); }
  void tuneOnce() {
    setTrials(window(), 40);
    window().startTuning();
    QVERIFY(QTest::qWaitFor([&] { return window().tuning().state() == TuneService::State::idle; }, 20'000));
  }
  /// What tasks and nodes have in common.
  void chooseOfTask(const std::function<QMenu*()>& open) {
    window().hub().setTrial(-1);
    QTRY_VERIFY(window().trials().store() && !window().trials().isLoading());
    QVERIFY(choose(open, QStringLiteral("trial.best")));
    QTRY_VERIFY(window().hub().trial() >= 0);
    window().setPerspective(QStringLiteral("tune"));
    QVERIFY(choose(open, QStringLiteral("trial.why")));
    QTRY_VERIFY(isInFront("dock.why"));
    showDock(window(), "dock.graph");
    QVERIFY(choose(open, QStringLiteral("trial.code")));
    QTRY_VERIFY(isInFront("dock.code"));
    showDock(window(), "dock.graph");
    QVERIFY(choose(open, QStringLiteral("tune.race")));
    QTRY_COMPARE(m_dialogs.size(), qsizetype{1});
    const size_t before = window().workspace().sessions().size();
    QVERIFY(choose(open, QStringLiteral("tune.task")));
    QTRY_COMPARE(window().tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(window().workspace().sessions().size(), before + 1);
  }

 private Q_SLOTS:
  void initTestCase() {
    ownHome(QStringLiteral("context-menus-test"), m_dir.path());
    m_leave.setInterval(20);
    connect(&m_leave, &QTimer::timeout, this, [this] {
      for (QWidget* w : QApplication::topLevelWidgets())
        if (auto* dialog = qobject_cast<QDialog*>(w); dialog && dialog->isVisible()) m_dialogs << dialog->windowTitle(), dialog->reject();
    });
  }
  void init() {
    QSettings().clear();
    m_bench = openFake(m_dir.filePath(QStringLiteral("%1.twdb").arg(QLatin1String(QTest::currentTestFunction()))));
    m_bench->engine.millisPerTrial = 0;
    tuneOnce();
    QTRY_COMPARE(window().workspace().sessions().size(), size_t{1});
    m_leave.start();
  }
  void cleanup() {
    m_leave.stop();
    m_bench.reset();
  }

  void tasks() {
    auto* table = named<QTreeView>(window(), "table.tasks");
    const auto open = [&] {
      showDock(window(), "dock.tasks");
      return menuOn(table, table->model()->index(1, 0));
    };
    QMenu* menu = open();
    QVERIFY(menu);
    QCOMPARE(entriesOf(*menu), (QStringList{QStringLiteral("tune.task"), QStringLiteral("tune.race"), QStringLiteral("trial.best"), QStringLiteral("trial.why"), QStringLiteral("trial.code")}));
    menu->close();
    // It is about the row that it was opened on.
    QCOMPARE(table->currentIndex().row(), 1);
    chooseOfTask(open);
  }

  void nodes() {
    window().setPerspective(QStringLiteral("explore"));
    showDock(window(), "dock.graph");
    auto* view = window().graphPage().view();
    QTRY_VERIFY(view->scene() && !view->scene()->nodes.empty());
    int chosen = -1;
    for (size_t n = 0; n < view->scene()->nodes.size() && chosen < 0; ++n)
      if (window().hub().model()->taskOfNode(view->scene()->nodes[n].node) >= 0) chosen = static_cast<int>(n);
    QVERIFY(chosen >= 0);
    const auto open = [&] {
      showDock(window(), "dock.graph");
      QCoreApplication::processEvents();
      view->fit();
      const QPointF at = (view->scene()->nodes[static_cast<size_t>(chosen)].rect.center() - view->scene()->bounds.topLeft()) * view->zoom();
      return menuAt(view->viewport(), at.toPoint() - QPoint(view->horizontalScrollBar()->value(), view->verticalScrollBar()->value()));
    };
    QMenu* menu = open();
    QVERIFY(menu);
    QCOMPARE(view->selectedNode(), chosen);
    QCOMPARE(window().hub().node(), view->scene()->nodes[static_cast<size_t>(chosen)].node);
    menu->close();
    QApplication::clipboard()->clear();
    QVERIFY(choose(open, GraphPage::tr("Copy the node's name")));
    QCOMPARE(QApplication::clipboard()->text(), view->scene()->nodes[static_cast<size_t>(chosen)].name);
    QVERIFY(choose(open, QStringLiteral("graph.search")));
    QTRY_COMPARE(window().focusWidget(), static_cast<QWidget*>(window().graphPage().findChild<QLineEdit*>()));
    QVERIFY(choose(open, QStringLiteral("graph.fit")));
    chooseOfTask(open);
  }

  void trials() {
    window().setPerspective(QStringLiteral("tune"));
    auto* table = named<QTreeView>(window(), "table.trials");
    QTRY_VERIFY(table->model()->rowCount() > 5);
    int row = 2;
    const auto open = [&] {
      showDock(window(), "dock.trials");
      QCoreApplication::processEvents();
      return menuOn(table, table->model()->index(row, 0));
    };
    QMenu* menu = open();
    QVERIFY(menu);
    QCOMPARE(entriesOf(*menu), (QStringList{QStringLiteral("trial.why"), QStringLiteral("trial.code"), QStringLiteral("trial.best"), QStringLiteral("code.keepBase"),
                                            QStringLiteral("file.exportTrial"), QStringLiteral("menu.trials.tray")}));
    menu->close();
    QTRY_VERIFY(window().hub().trial() >= 0);
    const auto third = window().hub().trialRef();
    QVERIFY(choose(open, QStringLiteral("trial.why")));
    QTRY_VERIFY(isInFront("dock.why"));
    QCOMPARE(window().hub().trialRef(), third);
    QVERIFY(choose(open, QStringLiteral("trial.code")));
    QTRY_VERIFY(isInFront("dock.code"));
    QVERIFY(window().hub().tray().empty());
    QVERIFY(choose(open, QStringLiteral("menu.trials.tray")));
    QTRY_COMPARE(window().hub().tray().size(), size_t{1});
    QTRY_VERIFY(!window().explaining().isPending() && window().actions().get(QStringLiteral("code.keepBase"))->isEnabled());
    QVERIFY(choose(open, QStringLiteral("code.keepBase")));
    QTRY_VERIFY(window().actions().get(QStringLiteral("file.exportTrial"))->isEnabled());
    QVERIFY(choose(open, QStringLiteral("file.exportTrial")));
    QTRY_COMPARE(m_dialogs.size(), qsizetype{1});
    QVERIFY(choose(open, QStringLiteral("trial.best")));
    QTRY_VERIFY(window().hub().trial() >= 0);
  }

  void sessions() {
    tuneOnce();
    QTRY_COMPARE(window().workspace().sessions().size(), size_t{2});
    window().setPerspective(QStringLiteral("compare"));
    auto* table = named<QTreeView>(window(), "table.sessions");
    QTRY_COMPARE(table->model()->rowCount(), 2);
    const auto open = [&] {
      showDock(window(), "dock.sessions");
      QCoreApplication::processEvents();
      return menuOn(table, table->model()->index(0, 0));
    };
    QMenu* menu = open();
    QVERIFY(menu);
    QCOMPARE(entriesOf(*menu), (QStringList{QStringLiteral("tune.resume"), QStringLiteral("session.play"), QStringLiteral("session.rename"), QStringLiteral("session.group"), QStringLiteral("session.share"),
                                            QStringLiteral("file.exportReport"), QStringLiteral("session.delete"), QStringLiteral("session.restore")}));
    menu->close();
    QVERIFY(choose(open, QStringLiteral("session.rename")));
    QLineEdit* editor = nullptr;
    QTRY_VERIFY((editor = table->viewport()->findChild<QLineEdit*>()) != nullptr);
    editor->setText(QStringLiteral("of the day"));
    QTest::keyClick(editor, Qt::Key_Return);
    const auto isNamed = [&] {
      const auto& all = window().workspace().sessions();
      return std::any_of(all.begin(), all.end(), [](const db::SessionRow& row) { return row.name == "of the day"; });
    };
    QTRY_VERIFY(isNamed());
    for (const char* asks : {"session.group", "session.share", "file.exportReport"}) {
      QVERIFY2(choose(open, QLatin1String(asks)), asks);
      QTRY_VERIFY2(m_dialogs.size() == 1, asks);
    }
    QVERIFY(choose(open, QStringLiteral("session.play")));
    QTRY_VERIFY(window().hub().playback().isOpen());
    window().hub().playback().close();
    // One that was stopped goes on.
    m_bench->engine.millisPerTrial = 2;
    setTrials(window(), 4000);
    window().startTuning();
    QTRY_VERIFY(window().tuning().trialsDone() > 20);
    window().actions().get(QStringLiteral("tune.cancel"))->trigger();
    QTRY_COMPARE(window().tuning().state(), TuneService::State::idle);
    QTRY_COMPARE(table->model()->rowCount(), 3);
    QVERIFY(choose(open, QStringLiteral("tune.resume")));
    QTRY_VERIFY(window().tuning().isActive());
    window().actions().get(QStringLiteral("tune.cancel"))->trigger();
    QTRY_COMPARE(window().tuning().state(), TuneService::State::idle);
    QVERIFY(choose(open, QStringLiteral("session.delete")));
    QTRY_COMPARE(window().workspace().sessions().size(), size_t{2});
    QVERIFY(choose(open, QStringLiteral("session.restore")));
    QTRY_COMPARE(window().workspace().sessions().size(), size_t{3});
  }
};

QTEST_MAIN(ContextMenusTest)
#include "context_menus_test.moc"
