// SPDX-License-Identifier: GPL-3.0-or-later
// Finding the way and taking results along: command box, navigator, notes, graph, exports.
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QTreeView>

#include "app/command_box.h"
#include "tests/app/fake_bench.h"
#include "widgets/common/banner.h"
#include "widgets/graph/graph_view.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class FindingTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  QString database(const char* name) { return m_dir.filePath(QLatin1String(name)); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("finding-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void commandBoxFindsAndRuns() {
    auto b = openFake(database("commands.twdb"));
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
      auto b = openFake(database("notes.twdb"));
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
    auto b = openFake(database("notes.twdb"));
    b->window->hub().setTask(1);
    QTRY_COMPARE(b->window->findChild<QPlainTextEdit*>(QStringLiteral("edit.inspector.note"))->toPlainText(), QStringLiteral("Why so slow?"));
  }

  /// Whoever pauses while writing goes on where they were: what is stored meanwhile is trimmed, what is written is not.
  void notesStayAsTheyAreTyped() {
    auto b = openFake(database("typed.twdb"));
    b->window->hub().setTask(1);
    const QString noun = selectedNouns(b->window->hub()).back().id;
    auto* note = named<QPlainTextEdit>(*b->window, "edit.inspector.note");
    auto* tags = named<QLineEdit>(*b->window, "edit.inspector.tags");
    const auto mark = [&] { return b->window->marks().mark(noun); };
    QTest::keyClicks(note, QStringLiteral("hello "));
    QTRY_COMPARE(mark().note, QStringLiteral("hello"));
    QTest::keyClicks(note, QStringLiteral("world"));
    QTest::keyClicks(tags, QStringLiteral("fast, "));
    QTRY_COMPARE(mark().tags, QStringList{QStringLiteral("fast")});
    QTest::keyClicks(tags, QStringLiteral("good"));
    QTRY_COMPARE(mark().tags, (QStringList{QStringLiteral("fast"), QStringLiteral("good")}));
    QCOMPARE(mark().note, QStringLiteral("hello world"));
  }

  /// Typing in the filter hides rows, and chooses none of those that are left.
  void theNavigatorsFilterChoosesNothing() {
    auto b = openFake(database("filter.twdb"));
    auto* tree = named<QTreeView>(*b->window, "tree.navigator");
    QTRY_COMPARE(tree->model()->rowCount(), 1);
    b->window->hub().setTask(0);
    auto* filter = named<QLineEdit>(*b->window, "edit.navigator.filter");
    QTest::keyClicks(filter, QStringLiteral("T2"));
    QCOMPARE(tree->model()->rowCount(tree->model()->index(0, 0)), 1);
    QCOMPARE(b->window->hub().task(), 0);
    filter->clear();
    QCOMPARE(b->window->hub().task(), 0);
    QVERIFY2(tree->currentIndex().data().toString().startsWith(QStringLiteral("T1")), qPrintable(tree->currentIndex().data().toString()));
  }

  void navigatorShowsAndSelects() {
    auto b = openFake(database("navigator.twdb"));
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

  void graphShowsBlocksAndOverlays() {
    auto b = openFake(database("overlays.twdb"));
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

  void viewsAreExported() {
    auto b = openFake(database("export.twdb"));
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
    auto b = openFake(database("graph-export.twdb"));
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
};

QTEST_MAIN(FindingTest)
#include "finding_test.moc"
