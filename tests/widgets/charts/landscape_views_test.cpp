// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>
#include <random>
#include <set>

#include "tests/widgets/colours_in.h"
#include "widgets/charts/activity_chart.h"
#include "widgets/charts/color_scale.h"
#include "widgets/charts/heat_map_view.h"
#include "widgets/charts/importance_view.h"
#include "widgets/charts/parallel_view.h"
#include "widgets/charts/projection_view.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/trial_query.h"

using namespace tw;
using namespace tw::widgets;

namespace {

std::shared_ptr<space::ConfigSpace> threeKnobs() {
  auto s = std::make_shared<space::ConfigSpace>();
  s->define_split("tile", 64, {});
  s->define_knob("unroll", {0, 4, 16});
  s->define_annotate("ann", 1, "candidate", {{"unroll"}, {"vec"}});
  return s;
}

TrialStore randomTrials(const space::ConfigSpace& space, int count) {
  TrialStore store(1e9);
  std::mt19937 rng(1);
  for (int i = 1; i <= count; ++i) {
    db::TrialOutcome t;
    t.number = i, t.space = "s", t.index = static_cast<int64_t>(rng() % static_cast<uint64_t>(space.size()));
    t.status = i % 7 == 0 ? records::Status::run_timeout : records::Status::ok;
    t.seconds = t.status == records::Status::ok ? 1e-3 + 1e-5 * static_cast<double>(t.index) : HUGE_VAL;
    store.append(t);
  }
  return store;
}

}  // namespace

class LandscapeViewsTest : public QObject {
  Q_OBJECT
  std::shared_ptr<space::ConfigSpace> m_space = threeKnobs();
  TrialStore m_store = randomTrials(*threeKnobs(), 300);
  std::shared_ptr<PointSet> m_points;

 private Q_SLOTS:
  void initTestCase() {
    applyTheme(ThemeChoice::light);
    m_points = std::make_shared<PointSet>(pointsOf(m_store, "s", m_space));
  }

  void lightnessOfTheScaleAscends() {
    for (int i = 1; i <= 20; ++i) QVERIFY(contrastRatio(viridis(i / 20.0), Qt::black) > contrastRatio(viridis((i - 1) / 20.0), Qt::black));
  }

  void clickingACellSelectsItsBestTrial() {
    HeatMapView view;
    view.resize(500, 320);
    TrialStore few(1e9);
    db::TrialOutcome t;
    t.number = 9, t.space = "s", t.index = 0, t.status = records::Status::ok, t.seconds = 1e-3;
    few.append(t);
    view.setMap(heatMap(pointsOf(few, "s", m_space), 0, 1, 0), m_space);
    view.show();
    QSignalSpy trial(&view, &HeatMapView::trialActivated), point(&view, &HeatMapView::pointActivated);
    QTest::keyClick(&view, Qt::Key_Right);  // the first key chooses the first cell of its direction
    QVERIFY(trial.count() + point.count() == 1);
    view.setIndex(0);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(point.count(), trial.count() == 0 ? 2 : 1);
    QTest::keyClick(&view, Qt::Key_Left);
    QVERIFY(trial.count() >= 1);
    QCOMPARE(trial.last()[0].toLongLong(), 9);
    QCOMPARE(view.table().rows.size(), size_t{21});
    QVERIFY(view.summary().contains(QStringLiteral("1 of 21 cells tried")));
  }

  void draggingAnAxisWritesAFilterThatKeepsThatPart() {
    ParallelView view;
    view.resize(700, 300);
    view.setData(m_points, {});
    view.show();
    QTRY_VERIFY(!view.isDrawing());
    QSignalSpy brushed(&view, &ParallelView::brushed);
    // Keys: from the first axis, take the upper end down twice.
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY(!brushed.isEmpty());
    const QString filter = brushed.last()[0].toString();
    QCOMPARE(filter, QStringLiteral("tile<=16"));  // 1 2 4 8 16 32 64, up to 0.8
    const auto query = TrialQuery::parse(filter, {{"s", m_space}}, nullptr);
    QVERIFY(query);
    TrialMatcher matches(*query, 1e-3);
    int kept = 0;
    for (int row = 0; row < m_store.size(); ++row) kept += matches(m_store, row) ? 1 : 0;
    QVERIFY(kept > 0 && kept < m_store.size());
    QTest::keyClick(&view, Qt::Key_Escape);
    QCOMPARE(brushed.last()[0].toString(), QString());
    // Every axis' filter is understood.
    for (int axis = 0; axis < 4; ++axis) {
      QTest::keyClick(&view, Qt::Key_Up);
      QVERIFY2(TrialQuery::parse(brushed.last()[0].toString(), {{"s", m_space}}, nullptr), qPrintable(brushed.last()[0].toString()));
      QTest::keyClick(&view, Qt::Key_Right);
    }
    // The mouse: drag the lower half of the time axis, then a click takes it back.
    QTest::keyClick(&view, Qt::Key_Escape);
    const int x = view.width() - 46;
    QTest::mousePress(&view, Qt::LeftButton, {}, {x, view.height() - 40});
    QTest::mouseMove(&view, {x, view.height() / 2});
    QTest::mouseRelease(&view, Qt::LeftButton, {}, {x, view.height() / 2});
    QVERIFY(brushed.last()[0].toString().contains(QStringLiteral("time<=")));
  }

  void fastLinesLieOnTop() {
    const auto axes = parallelAxes(*m_points);
    QCOMPARE(axes.size(), size_t{4});
    const QImage image =
        parallelRaster(*m_points, axes, {}, {300, 200}, {0, 100, 200, 299}, 10, 190, qRgb(255, 255, 255), qRgb(200, 200, 200), qRgb(200, 0, 0), {});
    // The fastest trial ends at the bottom of the time axis in the scale's last colour.
    QCOMPARE(image.pixel(299, 190), viridis(1).rgb());
    // Of all trials with the same line it is the one that is seen.
    size_t fastest = 0;
    for (size_t p = 0; p < m_points->size(); ++p)
      if (m_points->ok(p) && (!m_points->ok(fastest) || m_points->seconds[p] < m_points->seconds[fastest])) fastest = p;
    QCOMPARE(image.pixel(0, 190 - static_cast<int>(std::lround(parallelPlace(*m_points, fastest, axes[0]) * 180))), viridis(1).rgb());
    const std::vector<char> none(m_points->size(), 0);
    const QImage faint =
        parallelRaster(*m_points, axes, none, {300, 200}, {0, 100, 200, 299}, 10, 190, qRgb(255, 255, 255), qRgb(200, 200, 200), qRgb(200, 0, 0), {});
    QCOMPARE(coloursIn(faint), 2);
  }

  void everyViewDrawsInBothThemesAndHasATable() {
    for (const auto choice : {ThemeChoice::light, ThemeChoice::dark}) {
      applyTheme(choice);
      HeatMapView map;
      map.setMap(heatMap(*m_points, 0, 1, 0), m_space);
      ProjectionView projection;
      projection.setData(m_points, std::make_shared<Projection>(project(*m_points)));
      ParallelView parallel;
      parallel.setData(m_points, {});
      ImportanceView importanceView;
      const auto shares = importance(*m_points);
      importanceView.setShares({{QStringLiteral("tile"), shares[0]}, {QStringLiteral("unroll"), shares[1]}});
      ActivityChart activity;
      activity.setActivity({0, 1, {{TaskId{1}, 0, 5, 1, 0.2}, {TaskId{2}, 0, 2, 0, 0.1}, {TaskId{1}, 1, 4, 0, 0.3}}}, {{1, QStringLiteral("T1")}});
      QVERIFY(activity.summary().startsWith(QStringLiteral("11 trials")));
      for (QWidget* view : std::initializer_list<QWidget*>{&map, &projection, &parallel, &importanceView, &activity}) {
        view->resize(480, 300);
        view->show();
        QVERIFY(QTest::qWaitForWindowExposed(view));
        if (view == &parallel) QTRY_VERIFY(!parallel.isDrawing());
        QVERIFY2(coloursIn(view->grab().toImage()) > 5, qPrintable(view->objectName()));
        const Table table = dynamic_cast<Tabular*>(view)->table();
        QVERIFY2(!table.rows.empty() && table.rows[0].size() == table.columns.size(), qPrintable(view->objectName()));
        QVERIFY(!view->accessibleName().isEmpty());
      }
      map.setMap({}, nullptr);
      projection.setData(nullptr, nullptr);
      parallel.setData(nullptr, {});
      importanceView.setShares({});
      activity.setActivity({}, {});
      for (QWidget* view : std::initializer_list<QWidget*>{&map, &projection, &parallel, &importanceView, &activity}) view->grab();
    }
    applyTheme(ThemeChoice::light);
  }
};

QTEST_MAIN(LandscapeViewsTest)
#include "landscape_views_test.moc"
