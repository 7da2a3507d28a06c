// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/path_view.h"

#include <QAbstractItemModel>
#include <QLabel>
#include <QTimer>
#include <QTreeView>
#include <chrono>
#include <thread>

#include "app/services/tune_service.h"
#include "app/views/tune_view.h"
#include "tests/app/app_fixture.h"
#include "tests/app/formula_engine.h"
#include "widgets/charts/timeline_chart.h"
#include "widgets/common/empty_state.h"

using namespace tw;
using namespace tw::app;
using namespace tw::app::fixture;

namespace {

/// Batches take long enough to be seen.
class SlowEngine : public FormulaEngine {
 public:
  Expected<tune::SessionReport> tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                     const tune::EventSink& events, const tune::SessionControl& control,
                                     const std::shared_ptr<const records::RecordedTrials>& replay) override {
    const tune::EventSink slow = [&events](const tune::Event& e) {
      events(e);
      if (std::holds_alternative<tune::BatchBegun>(e)) std::this_thread::sleep_for(std::chrono::milliseconds(150));
    };
    return FormulaEngine::tune(tasks, options, sink, slow, control, replay);
  }
};

}  // namespace

class PathViewTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;

 private Q_SLOTS:
  void initTestCase() { ownHome(QStringLiteral("path-view-test"), m_dir.path()); }

  void aSessionIsFollowedAndLookedAtAfterwards() {
    SlowEngine engine;
    const auto w = openWindow(engine, m_dir.filePath(QStringLiteral("path.twdb")));
    w->openZoo(QStringLiteral("mlp"), true);
    QTRY_VERIFY_WITH_TIMEOUT(w->actions().get(QStringLiteral("tune.start"))->isEnabled(), 30'000);
    w->setPerspective(QStringLiteral("tune"));
    showDock(*w, "dock.path");
    auto* view = w->findChild<PathView*>();
    QTRY_VERIFY(view->findChild<widgets::EmptyState*>()->isEmpty());
    tune::SessionOptions options = w->tuneView().options();
    options.tuner = "random", options.trials = 240, options.batch = 16;
    w->tuneView().setOptions(options);
    w->tuneView().setOnlySelectedTask(true);
    // While it runs, the candidates of the batch are where the session says that they are.
    bool batch = false, now = false;
    const auto* heading = named<QLabel>(*view, "label.path.round");
    QTimer looking;
    connect(&looking, &QTimer::timeout, this, [&] {
      batch = batch || (w->tuning().batch() && w->tuning().batch()->stages.size() == w->tuning().batch()->candidates.size());
      now = now || (heading->text().startsWith(QStringLiteral("Now: ")) && w->tuning().isActive());
    });
    looking.start(5);
    w->startTuning();
    QTRY_VERIFY_WITH_TIMEOUT(!w->tuning().isActive(), 60'000);
    QVERIFY(batch && now);
    QVERIFY(!w->tuning().batch());
    QVERIFY(!w->tuning().phases().empty());
    // Then every trial has its place, and the newest round is shown.
    const auto* chart = view->findChild<widgets::TimelineChart*>();
    const auto trials = static_cast<size_t>(w->tuning().trialsDone());
    QTRY_COMPARE(chart->timeline().trials.size(), trials);
    const int64_t last = w->tuning().rounds().back().number;
    QTRY_VERIFY2(heading->text().startsWith(QStringLiteral("Round %1:").arg(last)), qPrintable(heading->text()));
    auto* table = named<QTreeView>(*view, "table.path.candidates");
    QCOMPARE(table->model()->rowCount(), static_cast<int>(w->tuning().rounds().back().trials));
    const QString totals = named<QLabel>(*view, "label.path.totals")->text();
    QVERIFY2(totals.contains(QStringLiteral("search ")) && totals.contains(QStringLiteral("measure ")), qPrintable(totals));
    // The window knows how long finding the tasks took, and says so before the first moment.
    QVERIFY2(totals.contains(QStringLiteral("extract ")), qPrintable(totals));
    QVERIFY(chart->timeline().spans.front().lane == widgets::TimelineLane::extract);
    const int why = table->model()->columnCount() - 1;
    QCOMPARE(table->model()->headerData(why, Qt::Horizontal).toString(), QStringLiteral("Why"));
    for (int row = 0; row < table->model()->rowCount(); ++row) QVERIFY(!table->model()->index(row, why).data().toString().isEmpty());
    // Another round, and one of its trials.
    QTest::keyClick(const_cast<widgets::TimelineChart*>(chart), Qt::Key_Left);
    QTRY_VERIFY(heading->text().startsWith(QStringLiteral("Round %1:").arg(last - 1)));
    Q_EMIT table->activated(table->model()->index(0, 0));
    QVERIFY(w->hub().trial() >= 1);
    QCOMPARE(w->hub().trialRef().session, w->tuning().session());
  }
};

QTEST_MAIN(PathViewTest)
#include "path_view_test.moc"
