// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/loops_view.h"

#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QToolButton>

#include "app/services/explain_service.h"
#include "tests/app/app_fixture.h"
#include "tests/app/formula_engine.h"
#include "widgets/charts/loop_scene.h"
#include "widgets/common/empty_state.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class LoopsViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  static void press(QWidget* widget, int key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(widget, static_cast<Qt::Key>(key), modifiers); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("loops-view-test"), m_dir.path()); }

  void stepsRunsAndTwoSchedules() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("loops.twdb")));
    w->setPerspective(QStringLiteral("code"));
    showDock(*w, "dock.loops");
    auto* view = w->findChild<LoopsView*>();
    auto* state = view->findChild<widgets::EmptyState*>();
    QVERIFY(state->isEmpty());
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->id, 30'000);
    showDock(*w, "dock.loops");
    QTRY_VERIFY_WITH_TIMEOUT(!state->isEmpty(), 30'000);
    auto* scene = view->findChild<widgets::LoopScene*>(QStringLiteral("view.loops.scene"));
    auto* other = view->findChild<widgets::LoopScene*>(QStringLiteral("view.loops.other"));
    QVERIFY(scene->play() && !other->isVisible());

    // It is what the engine and `tw task cache` say of the shown candidate.
    const auto expected = api::play_loops(*w->hub().taskValue(), w->explaining().candidate().steps).value();
    QCOMPARE(scene->play()->size(), expected.play->size());
    const size_t all = scene->play()->size();
    QVERIFY(all > 100);
    QCOMPARE(scene->at(), size_t{0});
    press(scene, Qt::Key_Right);
    press(scene, Qt::Key_Right);
    press(scene, Qt::Key_Left);
    QCOMPARE(scene->at(), size_t{1});
    press(scene, Qt::Key_End);
    QCOMPARE(scene->at(), all);
    const widgets::Table table = scene->table();
    QCOMPARE(table.rows.size(), expected.play->arrays().size());
    for (size_t a = 0; a < table.rows.size(); ++a) {
      const simulate::PlayCounts counts = expected.play->sum(expected.play->totals(), -1, static_cast<int>(a));
      QCOMPARE(table.rows[a][1].toLongLong(), counts.loads);
      QCOMPARE(table.rows[a][3].toLongLong(), counts.lookups);
      QCOMPARE(table.rows[a][4].toLongLong(), counts.held[0]);
    }
    press(scene, Qt::Key_Home);
    QCOMPARE(scene->at(), size_t{0});
    QVERIFY(!named<QToolButton>(*w, "button.loops.back")->isEnabled());

    // Out of the innermost loop that is not a vector's.
    const tir::AccessTrace& trace = scene->play()->trace();
    const std::vector<int>& loops = trace.statements[static_cast<size_t>(trace.steps[0].statement)].loops;
    const auto innermost = std::find_if(loops.rbegin(), loops.rend(), [&](int l) { return !trace.loops[static_cast<size_t>(l)].lanes; });
    const size_t after = innermost == loops.rend() ? 1 : scene->play()->after_loop(0, *innermost);
    press(scene, Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(scene->at(), after);

    // The bar goes anywhere and back.
    auto* bar = named<QSlider>(*w, "slider.loops");
    bar->setValue(bar->maximum() / 2);
    QCOMPARE(scene->at(), all / 2);
    bar->setValue(bar->maximum() / 4);
    QCOMPARE(scene->at(), all / 4);
    QCOMPARE(named<QLabel>(*w, "label.loops.position")->text().isEmpty(), false);

    // It runs until it is stopped, or at the end.
    press(scene, Qt::Key_Space);
    QVERIFY(view->isRunning());
    QTRY_VERIFY(scene->at() > all / 4);
    press(bar, Qt::Key_Space);
    QVERIFY(!view->isRunning());
    auto* speed = named<QComboBox>(*w, "combo.loops.speed");
    speed->setCurrentIndex(speed->count() - 1);
    named<QToolButton>(*w, "button.loops.play")->click();
    QTRY_COMPARE_WITH_TIMEOUT(scene->at(), all, 60'000);
    QVERIFY(!view->isRunning());

    // Before the last step, beside it and as far through.
    view->seek(all / 2);
    named<QComboBox>(*w, "combo.loops.beside")->setCurrentIndex(1);
    QTRY_VERIFY_WITH_TIMEOUT(!state->isEmpty(), 30'000);
    if (w->explaining().candidate().steps.empty()) {
      QVERIFY(named<QLabel>(*w, "label.loops.sizes")->text().contains(QStringLiteral("no steps")));
    } else {
      QVERIFY(other->isVisible());
      QCOMPARE(scene->at(), all / 2);
      QVERIFY(std::abs(static_cast<double>(other->at()) / static_cast<double>(other->play()->size()) - 0.5) < 0.01);
    }
    // With smaller caches less is found in the first.
    const auto hits = [&] { return scene->play()->sum(scene->play()->totals(), -1, -1).held[0]; };
    const int64_t before = hits();
    named<QComboBox>(*w, "combo.loops.caches")->setCurrentIndex(3);
    QTRY_VERIFY_WITH_TIMEOUT(!state->isEmpty(), 30'000);
    QVERIFY(hits() <= before);
    QCOMPARE(scene->play()->levels()[0].bytes, simulate::cache_levels(w->hub().taskValue()->target, 64)[0].bytes);

    // Hidden, it rests.
    view->seek(0);
    view->setRunning(true);
    QVERIFY(view->isRunning());
    showDock(*w, "dock.passes");
    QTRY_VERIFY(!view->isRunning());
  }
};

QTEST_MAIN(LoopsViewTest)
#include "loops_view_test.moc"
