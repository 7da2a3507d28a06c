// SPDX-License-Identifier: GPL-3.0-or-later
// Every lesson as a learner goes through it: with mouse and keys, what is wrong first. And what a teacher does.
#include "app/lesson_desk.h"
#include "app/perspectives.h"
#include "app/services/local_engine.h"
#include "app/views/code_dock.h"
#include "app/views/operator_view.h"
#include "engine/base/json.h"
#include "tests/app/lesson_player.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;
using Code = widgets::CodeView;

class LessonsTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  int m_workspaces = 0;
  std::unique_ptr<MainWindow> window(Engine& engine) { return openWindow(engine, m_dir.filePath(QStringLiteral("%1.twdb").arg(++m_workspaces))); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("lessons-test"), m_dir.path()); }
  void init() { QSettings().clear(); }

  /// What lessons may name is there in the window.
  void viewsAndPerspectivesAreThose() {
    for (const char* name : lesson::views()) QVERIFY2(std::any_of(views().begin(), views().end(), [&](const ViewDef& v) { return std::string_view(v.id) == name; }), name);
    for (const char* name : lesson::perspectives()) QVERIFY2(std::any_of(perspectives().begin(), perspectives().end(), [&](const auto& p) { return std::string_view(p.id) == name; }), name);
    LocalEngine engine;
    const auto w = window(engine);
    QVERIFY(named<QComboBox>(*w, "combo.graph.shown"));
    QVERIFY(named<QToolButton>(*w, "button.space.measure"));
  }

  void whatAScheduleIs() {
    LocalEngine engine;
    const auto w = window(engine);
    LessonPlayer p(*w);
    QVERIFY(p.open("schedule"));
    QVERIFY(p.isOpen("open"));
    QVERIFY(p.pick(Code::Steps, "reorder"));  // another step
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Loops, "[vectorize]"));  // in another column
    QVERIFY(p.isStillOpen());
    QVERIFY(p.pick(Code::Steps, "vectorize"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("linked"));
    QVERIFY(p.pick(Code::Loops, "[parallel]"));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("knob"));
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 8]")));
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("tile_y", QStringLiteral("[*, 32]")));  // another knob
    QVERIFY(p.isStillOpen());
    QVERIFY(p.turn("tile_x", QStringLiteral("[*, 32]")));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("same"));
    QVERIFY(p.choose(2));
    QVERIFY(p.next());
    QVERIFY(p.isOpen("count"));
    QVERIFY(p.type(QStringLiteral("17"), QStringLiteral("147")));
    QVERIFY(p.next());
    QVERIFY(!w->lessons().current());
  }
};

QTEST_MAIN(LessonsTest)
#include "lessons_test.moc"
