// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/descent_view.h"

#include <QComboBox>
#include <QLabel>
#include <QToolButton>
#include <QTreeView>

#include "engine/base/json.h"
#include "engine/tune/seed_descent.h"
#include "tests/app/fake_bench.h"
#include "widgets/charts/descent_chart.h"
#include "widgets/common/empty_state.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

/// What a round would tell of a descent of one seed in the first sketch of a task that has variables; a null value: it has none.
Json told(const records::Task& task) {
  const auto all = space::sketches(task.dag, task.target);
  for (size_t k = 0; k < all.size(); ++k) {
    const auto made = tune::DescentSketch::make(all[k], "sketch", task.target, {});
    if (!made || made->space.variables().size() < 2) continue;
    Json variables = Json::array(), most = Json::array(), begin = Json::array(), end = Json::array();
    for (const auto& v : made->space.variables()) {
      variables.push_back("v" + std::to_string(v.number) + "^" + std::to_string(v.prime));
      most.push_back(v.most);
      begin.push_back(0.5);
      end.push_back(0);
    }
    return {{"sketch", "sketch " + std::to_string(k)}, {"seeds", 1}, {"steps", 1}, {"drawn_anew", 0}, {"variables", variables}, {"most", most}, {"score", {1, 2}}, {"penalty", {1, 0}},
            {"rounded", {{"points", 2}, {"different", 1}, {"allowed", 1}, {"legal", 1}, {"fresh", 1}}},
            {"chosen", {{{"seed", 0}, {"step", 1}, {"at", end}, {"score", 2}}}},
            {"ways", {{"0", {begin, end}}}}};
  }
  return {};
}

}  // namespace

class DescentViewTest : public QObject {
  Q_OBJECT
 private:
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() {
    QLocale::setDefault(QLocale::c());
    ownHome(QStringLiteral("descent"), m_dir.path());
  }

  /// The ways that rounds tell of, on the two variables that are chosen, and the formulas behind them; of tuners that do not descend it says so.
  void showsWhereSeedsWent() {
    auto b = openFake(m_dir.filePath(QStringLiteral("descent.twdb")));
    b->engine.millisPerTrial = 0;
    showDock(*b->window, "dock.descent");
    auto* view = b->window->findChild<DescentView*>();
    auto* chart = view->findChild<widgets::DescentChart*>();
    auto* state = view->findChild<widgets::EmptyState*>();
    QTRY_VERIFY(state->isEmpty());
    const auto& tasks = b->window->hub().model()->tasks;
    int task = 0;
    Json descent;
    while (task < static_cast<int>(tasks.size()) && (descent = told(tasks[static_cast<size_t>(task)].task)).is_null()) ++task;
    QVERIFY(!descent.is_null());
    b->engine.decision = Json{{"why", "steep"}, {"search", {{"descent", Json::array({descent})}}}}.dump();
    setTrials(*b->window, 80);
    b->window->startTuning();
    QTRY_COMPARE(b->window->tuning().state(), TuneService::State::idle);
    b->window->hub().setTask(task);
    QTRY_VERIFY(!chart->isEmpty());
    QVERIFY(!state->isEmpty());
    QVERIFY2(named<QLabel>(*b->window, "label.descent.summary")->text().contains(QStringLiteral("of 2 points 1 differ")), qPrintable(chart->summary()));
    auto *x = named<QComboBox>(*b->window, "combo.descent.x"), *y = named<QComboBox>(*b->window, "combo.descent.y");
    QCOMPARE(x->count(), static_cast<int>(chart->descent().variables.size()));
    y->setCurrentIndex(x->currentIndex() == 0 ? 1 : 0);
    named<QToolButton>(*b->window, "button.descent.formulas")->setChecked(true);
    auto* table = named<QTreeView>(*b->window, "table.descent.formulas");
    QTRY_VERIFY(table->isVisible() && table->model()->rowCount() > 10);
    QVERIFY(table->model()->headerData(4, Qt::Horizontal).toString().contains(y->currentText()));
    QTest::keyClick(chart, Qt::Key_Right);
    QCOMPARE(chart->chosen(), 0);
  }
};

QTEST_MAIN(DescentViewTest)
#include "descent_view_test.moc"
