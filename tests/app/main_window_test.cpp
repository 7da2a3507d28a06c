// SPDX-License-Identifier: GPL-3.0-or-later
// The window itself: what it says, arranges, names and keeps.
#include <QComboBox>
#include <QDockWidget>
#include <QFontDatabase>
#include <QHoverEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QScreen>
#include <QStatusBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTreeView>
#include <map>
#include <set>

#include "app/command_box.h"
#include "app/manual_window.h"
#include "app/perspectives.h"
#include "app/pinned_view.h"
#include "app/views/code_dock.h"
#include "app/views/manual_view.h"
#include "db/migrate.h"
#include "engine/schedule/primitive.h"
#include "tests/app/fake_bench.h"
#include "tests/app/formula_engine.h"
#include "widgets/common/banner.h"
#include "widgets/graph/graph_view.h"
#include "widgets/ir/code_pane.h"
#include "widgets/ir/code_view.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class MainWindowTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("main-window-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void emptyWindowSaysWhatToDo() {
    auto b = openFake(database("empty.twdb"), false);
    QVERIFY(b->window->findChild<QWidget*>(QStringLiteral("card.fake")));
    QAction* start = b->window->actions().get(QStringLiteral("tune.start"));
    QVERIFY(!start->isEnabled());
    QVERIFY(start->toolTip().contains(QStringLiteral("open a model")));
  }

  void modelFillsTheViews() {
    auto b = openFake(database("model.twdb"));
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

  void layoutAndThemePersist() {
    {
      auto b = openFake(database("persist.twdb"));
      b->window->findChild<QDockWidget*>(QStringLiteral("dock.log"))->close();
      b->window->setTheme(widgets::ThemeChoice::dark);
      b->window->close();
    }
    auto b = openFake(database("persist.twdb"));
    QVERIFY(!b->window->findChild<QDockWidget*>(QStringLiteral("dock.tasks"))->isHidden());
    QVERIFY(b->window->findChild<QDockWidget*>(QStringLiteral("dock.log"))->isHidden());
    QVERIFY(b->window->actions().get(QStringLiteral("view.theme.dark"))->isChecked());
    QCOMPARE(QSettings().value(QStringLiteral("workspace")).toString(), database("persist.twdb"));
    b->window->setTheme(widgets::ThemeChoice::light);
  }

  void closingWhileTuningStopsFirst() {
    auto b = openFake(database("close.twdb"));
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

  void theSessionCanFinishWithoutAWindow() {
    auto b = openFake(database("background.twdb"));
    b->engine.millisPerTrial = 2;
    setTrials(*b->window, 60);
    b->window->startTuning();
    b->window->tuning().setPaused(true);  // which nobody could end any more
    b->window->askQuit = [] { return MainWindow::QuitChoice::background; };
    b->window->close();
    QVERIFY(!b->window->isVisible());
    QTRY_VERIFY(!b->window->tuning().isActive());
    QCOMPARE(b->window->tuning().trialsDone(), 60);
  }

  void errorsAppearInABanner() {
    auto b = openFake(database("error.twdb"));
    auto* banner = b->window->findChild<widgets::Banner*>(QStringLiteral("banner"));
    b->window->openFile(QStringLiteral("/nowhere/model.onnx"));
    QTRY_VERIFY(banner->isVisible() && banner->text().contains(QStringLiteral("does not exist")));
    QVERIFY(b->window->hub().model());  // the open model stays
    banner->hide();
    b->engine.failTuning = true;
    setTrials(*b->window, 10);
    b->window->startTuning();
    QTRY_VERIFY(banner->isVisible());
    QVERIFY2(banner->text().contains(QStringLiteral("worker program is missing")), qPrintable(banner->text()));
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

  /// A file of an earlier format is brought up to date beside the window's thread, says how far it is, and stays as it was if that is stopped.
  void anOlderWorkspaceIsBroughtUpToDate() {
    const QString path = database("older.twdb");
    constexpr int kOld = 7;
    {
      const auto& all = db::embedded_migrations();
      SQLite::Database c(path.toStdString(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      QVERIFY(db::migrate(c, 0, {all.begin(), all.begin() + kOld}, {}));
      c.exec("INSERT INTO model VALUES(1, 'k', 'm', 'm.onnx', '{}', 0); INSERT INTO session VALUES(1, 1, 'random', 'llvm', 'done', '{}', '{}', 'v', 1, 2, 0);"
             "INSERT INTO task(id, key, name, target, dag_text, flops) VALUES(1, 't', 't', 'llvm', '', 1)");
      c.exec("INSERT INTO trial(id, session_id, task_id, number, space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored, verified,"
             " max_rel_error, build_s, load_s, run_s, timestamp_s, checksum) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
             " SELECT i, 1, 1, i, 's', i, i, '', '[]', 'ok', '', 1e-3, 0, 1, 0, 1, 0, 0, 0, 0, 3, 0 FROM n");
    }
    const auto format = [&] { return SQLite::Database(path.toStdString()).execAndGet("PRAGMA user_version").getInt(); };
    FakeEngine engine;
    MainWindow window(engine);
    Workspace& workspace = window.workspace();
    const QAbstractItemModel* jobs = named<QTreeView>(window, "table.jobs")->model();
    const auto job = [&](int column) { return jobs->index(0, column).data().toString(); };
    QSignalSpy failed(&workspace, &Workspace::failed), opened(&workspace, &Workspace::opened), told(&workspace, &Workspace::upgrading);
    auto* stopped = window.findChild<QAction*>(QStringLiteral("action.workspace.stop_upgrade"));
    const auto stop = connect(&workspace, &Workspace::upgrading, stopped, &QAction::trigger);
    window.openWorkspace(path);
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY2(failed[0][0].toString().contains(QStringLiteral("it is as it was")), qPrintable(failed[0][0].toString()));
    QVERIFY(opened.isEmpty() && !workspace.reader());
    QVERIFY(job(JobBoard::Title).contains(QStringLiteral("older.twdb from format 7")));
    QCOMPARE(format(), kOld);
    disconnect(stop);
    told.clear();
    window.openWorkspace(path);
    QTRY_VERIFY(!told.isEmpty());
    const auto* banner = window.findChild<widgets::Banner*>(QStringLiteral("banner"));
    QVERIFY2(banner->text().contains(QStringLiteral("from format 7")), qPrintable(banner->text()));
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30'000);
    QCOMPARE(told.back()[2].toInt(), told.back()[3].toInt());  // all steps
    QVERIFY(window.statusBar()->currentMessage().isEmpty() && !banner->isVisibleTo(&window));
    QCOMPARE(format(), db::embedded_migrations().back().number);
    QCOMPARE(failed.count(), 1);
  }

  void everyFocusableWidgetAndActionIsNamed() {
    auto b = openFake(database("names.twdb"));
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
    auto b = openFake(database("actions.twdb"), false);
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

  void perspectivesKeepTheirArrangement() {
    auto b = openFake(database("perspectives.twdb"));
    const auto dock = [&](const char* name) { return b->window->findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(name)); };
    b->window->actions().get(QStringLiteral("view.perspective.code"))->trigger();
    QVERIFY(dock("curve")->isHidden());
    QVERIFY(!dock("code")->isHidden());
    dock("inspector")->close();
    b->window->actions().get(QStringLiteral("view.perspective.tune"))->trigger();
    QVERIFY(!dock("curve")->isHidden());
    b->window->setPerspective(QStringLiteral("code"));
    QVERIFY(dock("inspector")->isHidden());  // as it was left
    b->window->resetLayout();
    QVERIFY(!dock("inspector")->isHidden());
    // Every view is in one perspective at least, at one place of it, and no perspective names what there is not.
    std::set<QString> met;
    for (const PerspectiveDef& def : perspectives()) {
      for (const QString& name : def.shown()) {
        QVERIFY2(dock(name.toLatin1().constData()), qPrintable(name));
        QCOMPARE(def.shown().count(name), 1);
        met.insert(name);
      }
    }
    QCOMPARE(met.size(), views().size());
  }

  /// Another perspective while the pointer rests on a separator, and a key or the pointer afterwards: Qt goes the old way through the new layout.
  void perspectivesChangeUnderThePointer() {
    auto b = openFake(database("separators.twdb"));
    MainWindow& w = *b->window;
    w.resize(1600, 1000);
    w.resetLayout();
    const auto hover = [&w](QEvent::Type type, const QPointF& at) {
      QHoverEvent event(type, at, at, QPointF());
      QApplication::sendEvent(&w, &event);
    };
    int met = 0;
    for (size_t i = 0; i < perspectives().size(); ++i) {
      const QString from = QString::fromLatin1(perspectives()[i].id), to = QString::fromLatin1(perspectives()[(i + 1) % perspectives().size()].id);
      w.setPerspective(from);
      QApplication::processEvents();
      QList<QPoint> places;
      for (const QDockWidget* dock : w.findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (dock->visibleRegion().isEmpty() || dock->isFloating()) continue;
        const QRect r = dock->geometry();
        places << QPoint(r.right() + 2, r.center().y()) << QPoint(r.center().x(), r.bottom() + 2);
      }
      for (const QPoint at : places) {
        w.setPerspective(from);
        hover(QEvent::HoverMove, at);
        met += w.testAttribute(Qt::WA_SetCursor) ? 1 : 0;  // the arrows of a separator
        w.setPerspective(to);
        press(w, Qt::Key_Shift);
        hover(QEvent::HoverLeave, {});
      }
    }
    QVERIFY(met > 10);
  }

  /// One title for each view: a tab where views share a place, a bar where one stands alone.
  void viewsSayTheirNamesOnce() {
    auto b = openFake(database("titles.twdb"));
    b->window->resize(1600, 1000);
    b->window->resetLayout();
    QCoreApplication::processEvents();
    for (const PerspectiveDef& def : perspectives()) {
      b->window->setPerspective(QString::fromLatin1(def.id));
      QCoreApplication::processEvents();
      for (auto* dock : b->window->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if (!dock->isVisible() || dock->visibleRegion().isEmpty()) continue;
        const QList<QDockWidget*> others = b->window->tabifiedDockWidgets(dock);
        const bool alone = std::all_of(others.begin(), others.end(), [](const QDockWidget* other) { return other->isHidden(); });
        QVERIFY2((dock->titleBarWidget()->height() > 4) == alone, qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(def.id), dock->objectName())));
      }
    }
  }

  void theDrawerOpensAndClosesAtItsHeight() {
    auto b = openFake(database("drawer.twdb"));
    b->window->resize(1600, 1000);
    b->window->resetLayout();
    auto* tasks = b->window->findChild<QDockWidget*>(QStringLiteral("dock.tasks"));
    QAction* drawer = b->window->actions().get(QStringLiteral("view.drawer"));
    QVERIFY(!tasks->isHidden());
    QTRY_VERIFY(std::abs(tasks->height() - kDrawerHeight) < 40);
    const int height = tasks->height();
    drawer->trigger();
    QVERIFY(tasks->isHidden());
    drawer->trigger();
    QVERIFY(!tasks->isHidden());
    QTRY_VERIFY(std::abs(tasks->height() - height) < 12);
  }

  /// At the sizes that people have, nothing of the frame is outside of the window, in no perspective.
  void theFrameFitsItsSizes() {
    auto b = openFake(database("sizes.twdb"));
    // The second is what 1920x1080 leaves at 125 %.
    for (const QSize size : {QSize(1366, 768), QSize(1536, 864), QSize(1600, 1000), QSize(2560, 1440)}) {
      b->window->resize(size);
      for (const PerspectiveDef& def : perspectives()) {
        b->window->setPerspective(QString::fromLatin1(def.id));
        b->window->resetLayout();
        QCoreApplication::processEvents();
        QVERIFY2(b->window->size() == size, qPrintable(QStringLiteral("%1 needs %2 pixels").arg(QLatin1String(def.id)).arg(b->window->minimumSizeHint().height())));
        for (auto* dock : b->window->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
          if (!dock->isVisible() || dock->visibleRegion().isEmpty()) continue;
          QVERIFY2(b->window->rect().contains(dock->geometry()), qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(def.id), dock->objectName())));
        }
        QVERIFY(b->window->rect().contains(QRect(named<QWidget>(*b->window, "label.run.network")->mapTo(b->window.get(), QPoint()), QSize(1, 1))));
      }
    }
  }

  /// In a window of 1600 by 1000 with the drawer open the landscape has room, and the code below it too.
  void theLandscapeHasRoom() {
    auto b = openFake(database("landscape.twdb"));
    b->window->resize(1600, 1000);
    b->window->setPerspective(QStringLiteral("explore"));
    b->window->resetLayout();
    showDock(*b->window, "dock.landscape");
    const auto* drawer = named<QDockWidget>(*b->window, "dock.tasks");
    const auto* landscape = named<QDockWidget>(*b->window, "dock.landscape")->widget();
    const auto* code = named<QDockWidget>(*b->window, "dock.code")->widget();
    QVERIFY(!drawer->isHidden());
    QTRY_VERIFY2(landscape->width() >= 700 && landscape->height() >= 450, qPrintable(QStringLiteral("%1x%2").arg(landscape->width()).arg(landscape->height())));
    QVERIFY2(code->height() >= 150, qPrintable(QString::number(code->height())));
    QVERIFY(drawer->height() > 120);
  }

  /// Two columns of code have 60 characters each; where why does not fit beside them it is a tab.
  void codeHasRoom() {
    auto b = openFake(database("columns.twdb"));
    b->window->setPerspective(QStringLiteral("code"));
    for (const int width : {1600, 1920, 2560}) {
      b->window->resize(width, 1000);
      b->window->resetLayout();
      const auto* pane = b->window->codeDock().code()->pane(widgets::CodeView::Tir);
      const int letter = QFontMetrics(QFontDatabase::systemFont(QFontDatabase::FixedFont)).horizontalAdvance(QLatin1Char('0')), gutter = 9 * letter;
      QTRY_VERIFY2(pane->width() >= 60 * letter + gutter, qPrintable(QStringLiteral("%1: %2 of %3").arg(width).arg(pane->width()).arg(60 * letter + gutter)));
      const auto* why = named<QDockWidget>(*b->window, "dock.why");
      QVERIFY(!why->isHidden());
      QCOMPARE(b->window->tabifiedDockWidgets(named<QDockWidget>(*b->window, "dock.code")).contains(const_cast<QDockWidget*>(why)), width < 1900);
    }
  }

  /// Large letters in a window that is too small for them.
  void aSmallWindowIsArrangedWithoutComplaint() {
    auto b = openFake(database("small.twdb"));
    QTest::failOnWarning(QRegularExpression(QStringLiteral("resizeDocks")));
    b->window->setBigType(true);
    b->window->resize(200, 150);
    for (const PerspectiveDef& def : perspectives()) {
      b->window->setPerspective(QString::fromLatin1(def.id));
      b->window->resetLayout();
    }
    b->window->setBigType(false);
  }

  /// A new user's window lies in the work area; after that it comes back to where it was, on each set of screens for itself.
  void theWindowOpensInTheWorkAreaAndWhereItWas() {
    FakeEngine engine;
    const QRect room = QGuiApplication::primaryScreen()->availableGeometry();
    {
      MainWindow first(engine);
      first.show();
      QVERIFY2(room.contains(first.geometry()) || first.size() == first.minimumSizeHint(),
               qPrintable(QStringLiteral("%1x%2").arg(first.width()).arg(first.height())));
    }
    QRect place;
    {
      MainWindow moved(engine);
      moved.show();
      moved.resize(moved.minimumSizeHint().expandedTo(QSize(600, 500)));
      moved.move(room.topLeft() + QPoint(40, 30));
      QCoreApplication::processEvents();
      place = QRect(moved.pos(), moved.size());
      moved.close();
    }
    {
      MainWindow again(engine);
      again.show();
      QCoreApplication::processEvents();
      QCOMPARE(again.size(), place.size());
      QCOMPARE(again.pos(), place.topLeft());
    }
    // The place is kept under the screens' sizes: with others there is none yet.
    const QStringList kept = QSettings().allKeys().filter(QStringLiteral("window/geometry/"));
    QCOMPARE(kept.size(), qsizetype{1});
    QVERIFY2(kept.first().endsWith(QStringLiteral("/%1x%2").arg(QGuiApplication::primaryScreen()->size().width()).arg(QGuiApplication::primaryScreen()->size().height())), qPrintable(kept.first()));
  }

  void pinnedCopiesKeepTheirSelection() {
    auto b = openFake(database("pin.twdb"));
    QTRY_VERIFY(b->window->codeDock().code()->pane(widgets::CodeView::Tir)->text().contains(QStringLiteral("def main")));
    b->window->activateWindow();
    b->window->findChild<QWidget*>(QStringLiteral("edit.code.tir"))->setFocus();
    QTRY_COMPARE(b->window->currentView(), static_cast<QWidget*>(&b->window->codeDock()));
    // The copy is a tab beside its view: nothing else gets less room.
    const auto sizes = [&] {
      std::map<QString, QSize> out;
      for (auto* dock : b->window->findChildren<QDockWidget*>())
        if (dock->isVisible() && !dock->visibleRegion().isEmpty() && !dock->findChild<CodeDock*>()) out[dock->objectName()] = dock->size();
      return out;
    };
    QCoreApplication::processEvents();  // whatever still comes into sight does so before
    const auto before = sizes();
    QVERIFY2(before.size() >= 2, qPrintable(QString::number(before.size())));
    b->window->actions().get(QStringLiteral("view.pin"))->trigger();
    auto* pinned = b->window->findChild<PinnedView*>();
    QVERIFY(pinned);
    QCoreApplication::processEvents();
    for (const auto& [name, size] : sizes()) {
      const auto was = before.find(name);
      QVERIFY2(was != before.end() && was->second == size, qPrintable(QStringLiteral("%1 is %2x%3, was %4x%5").arg(name).arg(size.width()).arg(size.height()).arg(was == before.end() ? 0 : was->second.width()).arg(was == before.end() ? 0 : was->second.height())));
    }
    b->window->hub().setTask(1);
    QCOMPARE(pinned->hub().task(), 0);
    QCOMPARE(b->window->findChildren<CodeDock*>().size(), 2);
    b->window->resetLayout();
    QTRY_VERIFY(!b->window->findChild<PinnedView*>());
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

  /// F1 is about what the pointer is on: another view, another paragraph.
  void helpIsAboutTheViewUnderThePointer() {
    auto b = openFake(database("f1.twdb"));
    b->window->setPerspective(QStringLiteral("tune"));
    b->window->resetLayout();
    for (const auto& [dock, title] : {std::pair("dock.tasks", "Tasks"), std::pair("dock.network", "Network")}) {
      QApplication::processEvents();
      QWidget* view = named<QDockWidget>(*b->window, dock)->widget();
      QCursor::setPos(view->mapToGlobal(QPoint(40, view->height() - 6)));  // on the screen of tests, beside all words
      QVERIFY2(view->isAncestorOf(QApplication::widgetAt(QCursor::pos())), dock);
      press(*b->window, Qt::Key_F1);
      auto* text = b->window->findChild<ManualWindow*>()->findChild<QTextBrowser*>(QStringLiteral("view.manual.text"));
      QTRY_VERIFY2(text->textCursor().block().text().startsWith(QLatin1String(title) + QLatin1Char('.')), qPrintable(text->textCursor().block().text()));
      b->window->findChild<ManualWindow*>()->hide();
    }
  }

  /// What is looked for is found on any page, and again from the beginning.
  void theManualIsSearched() {
    ManualView manual;
    auto* browser = manual.findChild<QTextBrowser*>(QStringLiteral("view.manual.text"));
    auto* find = manual.findChild<QLineEdit*>(QStringLiteral("edit.manual.find"));
    QTest::keyClicks(find, QStringLiteral("tw farm up"));
    QCOMPARE(browser->textCursor().selectedText().toLower(), QStringLiteral("tw farm up"));
    QVERIFY(!browser->source().fileName().startsWith(QStringLiteral("workbench")));
    const auto place = std::pair(browser->source(), browser->textCursor().position());
    int times = 0;
    do {
      QTest::keyClick(find, Qt::Key_Return);
      QCOMPARE(browser->textCursor().selectedText().toLower(), QStringLiteral("tw farm up"));
    } while (++times < 100 && std::pair(browser->source(), browser->textCursor().position()) != place);
    QVERIFY(times > 1 && times < 100);
    find->clear();
    QTest::keyClicks(find, QStringLiteral("no page has this"));
    QVERIFY(!browser->textCursor().hasSelection());
  }

  /// F1 opens the manual at the paragraph of a view: each has one.
  void theManualSpeaksOfEveryView() {
    ManualWindow manual;
    manual.show();
    auto* browser = manual.findChild<QTextBrowser*>(QStringLiteral("view.manual.text"));
    for (const ViewDef& def : views()) {
      manual.showView(def.title());
      QVERIFY2(browser->textCursor().block().text().startsWith(def.title() + QLatin1Char('.')), qPrintable(def.title()));
    }
  }

  void theManualEndsItsPageOfStepsWithAllOfThem() {
    ManualWindow manual;
    auto* browser = manual.findChild<QTextBrowser*>(QStringLiteral("view.manual.text"));
    browser->setSource(QUrl(QStringLiteral("qrc:/manual/steps.md")), QTextDocument::MarkdownResource);
    const QString text = browser->toPlainText();
    QVERIFY(text.startsWith(QStringLiteral("Steps of a schedule")));
    for (const tw::schedule::Primitive* p : tw::schedule::primitives())
      for (const tw::schedule::StepWord& w : p->words)
        QVERIFY2(text.contains(QStringLiteral("%1 (%2): %3").arg(QLatin1String(w.word), QLatin1String(p->code), QLatin1String(w.help))), w.word);
  }

  void bigTypeIsKept() {
    const double size = QApplication::font().pointSizeF();
    {
      auto b = openFake(database("big.twdb"), false);
      b->window->actions().get(QStringLiteral("view.bigType"))->trigger();
      QVERIFY(QApplication::font().pointSizeF() > 1.3 * size);
      b->window->close();
    }
    auto b = openFake(database("big.twdb"), false);
    QVERIFY(b->window->actions().get(QStringLiteral("view.bigType"))->isChecked());
    b->window->setBigType(false);
    QCOMPARE(QApplication::font().pointSizeF(), size);
  }

  void coloursAndLettersReplaceNoWidget() {
    FormulaEngine engine;
    const auto w = openWindow(engine, database("colours.twdb"));
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->isWhole, 30'000);
    showDock(*w, "dock.why");
    QTRY_VERIFY_WITH_TIMEOUT(!named<QWidget>(*w, "why.rules")->findChildren<QLabel*>().isEmpty(), 30'000);
    for (const PerspectiveDef& def : perspectives()) {
      w->setPerspective(QString::fromLatin1(def.id));
      QTest::keyClick(w.get(), Qt::Key_Tab);  // with the frame of what has the focus
      for (const auto theme : {widgets::ThemeChoice::dark, widgets::ThemeChoice::system, widgets::ThemeChoice::light}) {
        const QStringList lost = lostDuring([&] { w->setTheme(theme); });
        QVERIFY2(lost.isEmpty(), qPrintable(lost.join(QStringLiteral("; "))));
      }
      for (const bool big : {true, false}) {
        const QStringList lost = lostDuring([&] { widgets::setBigType(big); });
        QVERIFY2(lost.isEmpty(), qPrintable(lost.join(QStringLiteral("; "))));
      }
    }
  }

  void picturesAreNotBlank() {
    auto b = openFake(database("picture.twdb"));
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
