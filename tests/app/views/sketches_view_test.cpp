// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sketches_view.h"

#include <QLabel>
#include <QTreeView>

#include "app/views/tune_view.h"
#include "engine/space/sketch/choices.h"
#include "tests/app/app_fixture.h"
#include "tests/app/formula_engine.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/ir/code_pane.h"
#include "widgets/tuning/trial_store.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

class SketchesViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

  /// Rows without children, from top to bottom.
  static std::vector<QModelIndex> leaves(const QAbstractItemModel& model, const QModelIndex& parent = {}) {
    std::vector<QModelIndex> out;
    for (int r = 0; r < model.rowCount(parent); ++r) {
      const QModelIndex at = model.index(r, 0, parent);
      if (model.rowCount(at) == 0) {
        out.push_back(at);
      } else {
        const auto inside = leaves(model, at);
        out.insert(out.end(), inside.begin(), inside.end());
      }
    }
    return out;
  }
  static int numberIn(const QModelIndex& leaf) { return leaf.data().toString().section(QLatin1Char(':'), 0, 0).section(QLatin1Char(' '), 1).toInt(); }

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("sketches-view-test"), m_dir.path()); }

  void rulesSketchesAndTheirTrials() {
    FormulaEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("sketches.twdb")));
    w->setPerspective(QStringLiteral("explore"));
    showDock(*w, "dock.sketches");
    auto* view = w->findChild<SketchesView*>();
    QVERIFY(view->findChild<widgets::EmptyState*>()->isEmpty());
    w->openZoo(QStringLiteral("resnet18"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->hub().model() && w->hub().model()->id, 30'000);
    showDock(*w, "dock.sketches");
    const records::Task& task = *w->hub().taskValue();
    const std::vector<space::Sketch> expected = space::sketches(task.dag, task.target);
    QVERIFY(expected.size() > 1);
    auto* tree = named<QTreeView>(*w, "tree.sketches");
    QTRY_COMPARE_WITH_TIMEOUT(leaves(*tree->model()).size(), expected.size(), 30'000);

    // Above each sketch stand the rules that made it, in their order.
    for (const QModelIndex& leaf : leaves(*tree->model())) {
      const space::Sketch& sketch = expected[static_cast<size_t>(numberIn(leaf))];
      QModelIndex at = leaf.parent();
      for (size_t k = sketch.derived.size(); k-- > 0; at = at.parent()) {
        QCOMPARE(at.data().toString(), QStringLiteral("%1 of %2").arg(QLatin1String(sketch.derived[k].rule), QString::fromStdString(sketch.derived[k].stage)));
        QVERIFY(!at.data(Qt::ToolTipRole).toString().isEmpty());
      }
      QVERIFY(!at.isValid());
      // Its steps, those with open lengths marked.
      tree->setCurrentIndex(leaf);
      auto* steps = view->findChild<widgets::CodePane*>(QStringLiteral("view.sketches.steps"));
      const QStringList lines = steps->text().trimmed().split(QLatin1Char('\n'));
      QCOMPARE(lines.size(), static_cast<qsizetype>(sketch.steps.size()));
      for (int i = 0; i < static_cast<int>(lines.size()); ++i)
        QCOMPARE(lines[i].contains(QStringLiteral("lengths to choose")), std::find(sketch.open.begin(), sketch.open.end(), i) != sketch.open.end());
    }

    // Trials are counted where they belong, and the fastest can be gone to.
    tune::SessionOptions options = w->tuneView().options();
    options.tuner = "ansor", options.seed = 1, options.trials = 40;
    w->tuneView().setOptions(options);
    w->tuneView().setOnlySelectedTask(true);
    w->startTuning();
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 120'000);
    showDock(*w, "dock.sketches");
    std::map<int, int> trials;
    std::map<int, double> best;
    const auto rows = w->workspace().reader()->trials(std::nullopt, w->hub().model()->taskIds.at(static_cast<size_t>(w->hub().task())), {}, -1, true).value();
    for (const db::TrialRow& row : rows) {
      const std::string sketch = space::sketch_of(row.record.candidate.config);
      if (!sketch.starts_with("sketch ")) continue;  // bred from the default schedule, or a point of a template
      const int number = std::stoi(sketch.substr(7));
      ++trials[number];
      const double seconds = row.record.result.decided_s();
      if (row.record.result.ok() && (!best.contains(number) || seconds < best[number])) best[number] = seconds;
    }
    QVERIFY(!trials.empty());
    const auto cell = [&](const QModelIndex& leaf, int column) { return leaf.siblingAtColumn(column).data().toString(); };
    QTRY_VERIFY([&] {
      int shown = 0;
      for (const QModelIndex& leaf : leaves(*tree->model())) shown += cell(leaf, 1).toInt();
      int all = 0;
      for (const auto& [number, count] : trials) all += count;
      return shown == all;
    }());
    for (const QModelIndex& leaf : leaves(*tree->model())) {
      const int number = numberIn(leaf);
      QCOMPARE(cell(leaf, 1).toInt(), trials.contains(number) ? trials[number] : 0);
      QCOMPARE(cell(leaf, 2), best.contains(number) ? widgets::secondsText(best[number]) : QString());
      if (!best.contains(number)) continue;
      tree->setCurrentIndex(leaf);
      Q_EMIT tree->activated(leaf);
      const auto& store = w->trials().store();
      QTRY_VERIFY(w->trials().selected() >= 0 && store->seconds(store->rowOf(w->trials().selected())) == best[number]);
    }
  }
};

QTEST_MAIN(SketchesViewTest)
#include "sketches_view_test.moc"
