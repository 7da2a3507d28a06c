// SPDX-License-Identifier: GPL-3.0-or-later
// The code of what is selected: what a turned knob changes is there before machine code is.
#include "app/views/code_dock.h"
#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "widgets/ir/code_pane.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;
using Code = widgets::CodeView;

class ExplainServiceTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  FakeEngine m_engine;

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("explain-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  void loopsComeBeforeMachineCode() {
    const auto w = openWindow(m_engine, m_dir.filePath(QStringLiteral("outline.twdb")));
    w->openZoo(QStringLiteral("fake"), false);
    QTRY_VERIFY(w->explaining().spacesKnown() && w->explaining().explanation() && !w->explaining().isPending());
    const auto text = [&](Code::Column column) { return w->codeDock().code()->pane(column)->text(); };
    QSignalSpy outlined(&w->explaining(), &ExplainService::outlined), explained(&w->explaining(), &ExplainService::explained);
    m_engine.holdMachineCode = true;
    w->hub().setConfigIndex(35);
    QTRY_COMPARE(text(Code::Steps), QStringLiteral("split"));
    QVERIFY(explained.isEmpty() && w->explaining().isPending());
    QCOMPARE(text(Code::Assembly), QStringLiteral("ret\n"));  // that of the schedule before
    // Another turn of the knob is what comes; a point that cannot be built has no outline, and says why.
    w->hub().setConfigIndex(13);
    m_engine.holdMachineCode = false;
    QTRY_VERIFY(!w->explaining().isPending());
    QVERIFY(w->explaining().problem().contains(QStringLiteral("40 vector registers")));
    QCOMPARE(outlined.size(), 1);
    QCOMPARE(explained.size(), 1);
  }
};

QTEST_MAIN(ExplainServiceTest)
#include "explain_service_test.moc"
