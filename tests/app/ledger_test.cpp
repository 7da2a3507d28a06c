// SPDX-License-Identifier: GPL-3.0-or-later
// What each choice of a point is worth, measured one by one.
#include <QLabel>
#include <QTreeWidget>

#include "app/services/ledger_service.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class LedgerTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  FakeEngine m_engine;

  /// The window with a point of the space and its reasons in front.
  std::unique_ptr<MainWindow> showing(const char* database, qint64 point) {
    auto w = openWindow(m_engine, m_dir.filePath(QLatin1String(database)));
    w->openZoo(QStringLiteral("fake"), false);
    if (!QTest::qWaitFor([&] { return w->explaining().spacesKnown(); })) qFatal("The space is not read");
    w->hub().setConfigIndex(point);
    auto* dock = named<QDockWidget>(*w, "dock.why");
    dock->show();
    dock->show();
    dock->raise();
    if (!QTest::qWaitFor([&] { return named<QToolButton>(*w, "button.why.ledger")->isEnabled() && !w->explaining().isPending(); }))
      qFatal("The point is not shown");
    return w;
  }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("ledger-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void everyChoiceIsPutBackOnce() {
    const auto w = showing("one.twdb", 35);  // a = 5, b = 3; by rule both are 0
    auto* table = named<QTreeWidget>(*w, "table.why.ledger");
    named<QToolButton>(*w, "button.why.ledger")->click();
    QTRY_VERIFY(named<QLabel>(*w, "label.why.ledger")->text().contains(QStringLiteral("apart")));
    QCOMPARE(table->topLevelItemCount(), 2);
    // The made-up machine: 2 ms, a tenth of a millisecond less for each step of b.
    QCOMPARE(table->topLevelItem(0)->text(0), QStringLiteral("b"));
    QCOMPARE(table->topLevelItem(0)->text(1), QStringLiteral("3"));
    QCOMPARE(table->topLevelItem(0)->text(2), QStringLiteral("0"));
    QVERIFY2(table->topLevelItem(0)->text(3).startsWith(QStringLiteral("1.18")), qPrintable(table->topLevelItem(0)->text(3)));
    QVERIFY2(table->topLevelItem(1)->text(3).contains(QStringLiteral("the same")), qPrintable(table->topLevelItem(1)->text(3)));
    // What was measured is kept: the point and the two without a choice.
    QTRY_COMPARE(w->workspace().sessions().size(), size_t{1});
    QCOMPARE(w->workspace().sessions()[0].tuner, std::string("ledger"));
    QTRY_COMPARE(w->workspace().sessions()[0].trials, int64_t{3});
    // A row leads to its trial.
    QVERIFY(QMetaObject::invokeMethod(table, "itemActivated", Q_ARG(QTreeWidgetItem*, table->topLevelItem(0)), Q_ARG(int, 0)));
    QTRY_VERIFY(w->trials().store() && w->trials().store()->rowOf(w->hub().trial()) >= 0);
    QCOMPARE(w->trials().store()->configIndex(w->trials().store()->rowOf(w->hub().trial())), int64_t{5});
  }

  void aChoiceThatCannotBePutBackSaysWhy() {
    const auto w = showing("fails.twdb", 63);  // a = 3, b = 6; b back leads to 3, a back to 60
    auto* table = named<QTreeWidget>(*w, "table.why.ledger");
    w->hub().setConfigIndex(93);
    QTRY_VERIFY(named<QToolButton>(*w, "button.why.ledger")->isEnabled() && !w->explaining().isPending());
    m_engine.byRule = 10;  // b = 1: with it, point 13, which cannot be built
    named<QToolButton>(*w, "button.why.ledger")->click();
    QTRY_VERIFY(named<QLabel>(*w, "label.why.ledger")->text().contains(QStringLiteral("apart")));
    m_engine.byRule = 0;
    QCOMPARE(table->topLevelItemCount(), 2);
    QCOMPARE(table->topLevelItem(1)->text(3), QStringLiteral("does not run"));
    QVERIFY(table->topLevelItem(1)->toolTip(3).contains(QStringLiteral("vector registers")));
  }

  /// It ends with its workspace, also where no other one opens.
  void itEndsWithItsWorkspace() {
    const auto w = showing("gone.twdb", 35);
    QSignalSpy failed(&w->workspace(), &Workspace::failed), opened(&w->workspace(), &Workspace::opened);
    named<QToolButton>(*w, "button.why.ledger")->click();
    w->openWorkspace(QStringLiteral("/proc/none/gone.twdb"));
    QTRY_COMPARE(failed.count(), 1);
    QCOMPARE(named<QTreeWidget>(*w, "table.why.ledger")->topLevelItemCount(), 0);
    w->openWorkspace(m_dir.filePath(QStringLiteral("gone.twdb")));
    QTRY_COMPARE(opened.count(), 1);
    QTRY_VERIFY(named<QToolButton>(*w, "button.why.ledger")->isEnabled());
  }

  void thePointByRuleHasNothingToPutBack() {
    const auto w = showing("rule.twdb", 0);
    named<QToolButton>(*w, "button.why.ledger")->click();
    QTRY_VERIFY(named<QLabel>(*w, "label.why.ledger")->text().contains(QStringLiteral("every knob has its value by rule")));
    QVERIFY(w->workspace().sessions().empty());
    // What is no point of a space has no ledger, and the button says so.
    w->hub().setConfigIndex(-1);
    QTRY_VERIFY(!named<QToolButton>(*w, "button.why.ledger")->isEnabled());
    QTRY_VERIFY(named<QToolButton>(*w, "button.why.ledger")->toolTip().contains(QStringLiteral("no point")));
  }
};

QTEST_MAIN(LedgerTest)
#include "ledger_test.moc"
