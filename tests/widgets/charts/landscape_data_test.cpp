// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>
#include <random>

#include "widgets/charts/landscape_data.h"

using namespace tw;
using namespace tw::widgets;

namespace {

std::shared_ptr<space::ConfigSpace> makeSpace() {
  auto s = std::make_shared<space::ConfigSpace>();
  s->define_split("tile", 64, {});  // 7 candidates
  s->define_knob("unroll", {0, 4, 16});
  s->define_knob("noise", {0, 1, 2, 3});
  s->add_filter([](const space::ConfigEntity& e) { return e.integer("unroll") < 16 || e.split("tile").back() < 64; }, "unroll 16 needs tiles below 64");
  return s;
}

/// All points of the space; the time depends on the tile alone, and a little on unroll.
TrialStore filled(const space::ConfigSpace& space, bool everySecond = false) {
  TrialStore store(1e9);
  for (int64_t i = 0; i < space.size(); i += everySecond ? 2 : 1) {
    const auto entity = space.get(i).value();
    db::TrialOutcome t;
    t.number = store.size() + 1;
    t.index = i;
    t.space = "s";
    const bool refused = !space.filtered_reason(entity).empty();
    t.status = refused ? records::Status::lower_fail : records::Status::ok;
    t.seconds = refused ? HUGE_VAL : 1e-3 * (1 + static_cast<double>(entity.split("tile").back())) * (1 + 0.01 * static_cast<double>(entity.integer("unroll")));
    store.append(t);
  }
  return store;
}

}  // namespace

class LandscapeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void pointsKnowTheirKnobs() {
    const auto space = makeSpace();
    TrialStore store = filled(*space);
    db::TrialOutcome other;
    other.number = store.size() + 1, other.space = "elsewhere", other.index = 3;
    store.append(other);
    const PointSet points = pointsOf(store, "s", space);
    QCOMPARE(points.size(), static_cast<size_t>(space->size()));
    for (size_t p = 0; p < points.size(); ++p) {
      const std::vector<int> expected = space->knob_positions(points.index[p]);
      for (size_t k = 0; k < expected.size(); ++k) QCOMPARE(points.position(p, k), expected[k]);
    }
    QCOMPARE(pointsOf(store, "s", nullptr).size(), size_t{0});
  }

  /// By the names in the records alone, as by the index.
  void namesStandForTheIndex() {
    const auto space = makeSpace();
    const TrialStore numbered = filled(*space);
    TrialStore named(1e9);
    for (int row = 0; row < numbered.size(); ++row) {
      db::TrialOutcome t;
      t.number = numbered.number(row), t.space = "s", t.status = numbered.status(row), t.seconds = numbered.seconds(row);
      t.config = space->get(numbered.configIndex(row))->json_text();
      named.append(t);
    }
    const PointSet a = pointsOf(numbered, "s", space), b = pointsOf(named, "s", space);
    QVERIFY(a.positions == b.positions && a.index == b.index);
    QCOMPARE(importance(a), importance(b));
    QCOMPARE(choicesText(b, 5), pointText(*space, a.index[5]));
    // A value that the space does not have stands behind its own.
    db::TrialOutcome t;
    t.number = named.size() + 1, t.space = "s", t.status = records::Status::ok, t.seconds = 1e-3;
    t.config = R"([["tile","sp",[2,32]],["unroll","ot",64],["noise","ot",0]])";
    named.append(t);
    const PointSet c = pointsOf(named, "s", space);
    QCOMPARE(c.axes[1].candidates.size(), size_t{4});
    QCOMPARE(c.position(c.size() - 1, 1), 3);
    QCOMPARE(c.index.back(), int64_t{-1});
    const HeatMap map = heatMap(c, 0, 1, 0);
    QCOMPARE(map.rows, 4);
    QCOMPARE(map.at(c.position(c.size() - 1, 0), 3).trials, 1);
    QCOMPARE(map.at(0, 3).index, int64_t{-1});
  }

  /// No template tells of these: tile sizes that records name.
  void spacesThatTrialsAloneTellOf() {
    TrialStore store(1e9);
    const auto add = [&](const char* config, double seconds) {
      db::TrialOutcome t;
      t.number = store.size() + 1, t.space = "sketch", t.status = records::Status::ok, t.seconds = seconds, t.config = config;
      store.append(t);
    };
    add(R"([["i","sp",[4,16]],["unroll","ot",512]])", 4e-3);
    add(R"([["i","sp",[16,4]],["unroll","ot",0]])", 2e-3);
    add(R"([["i","sp",[4,16]],["unroll","ot",16]])", 3e-3);
    add(R"([["i","sp",[8,8]]])", 1e-3);
    QCOMPARE(mostTriedSpace(store), std::string("sketch"));
    QCOMPARE(mostTriedSpace(TrialStore(1e9)), std::string());
    const PointSet points = pointsOf(store, "sketch", nullptr);
    QCOMPARE(points.size(), size_t{4});
    QCOMPARE(points.knobs(), size_t{2});
    QStringList values;
    for (const auto& v : points.axes[1].candidates) values << knobValueText(points.axes[1], v);
    QCOMPARE(values.mid(1), (QStringList{QStringLiteral("0"), QStringLiteral("16"), QStringLiteral("512")}));  // by number; the first is for what is not named
    QCOMPARE(points.position(3, 1), 0);
    QCOMPARE(knobValueText(points.axes[0], points.axes[0].candidates[0]), QStringLiteral("[16, 4]"));  // innermost factor 4, then 8 and 16
    QCOMPARE(points.position(0, 0), 2);
    const HeatMap map = heatMap(points, 0, 1, 0);
    QCOMPARE(map.at(2, 3).bestNumber, int64_t{1});
    QCOMPARE(map.at(0, 3).state, HeatMap::State::untried);
    QCOMPARE(choicesText(points, 1), QStringLiteral("i [16, 4]  unroll 0"));
  }

  void cellsHoldTheBestAndWhatFailed() {
    const auto space = makeSpace();
    const PointSet points = pointsOf(filled(*space), "s", space);
    const HeatMap map = heatMap(points, 0, 1, 0);
    QCOMPARE(map.columns, 7);
    QCOMPARE(map.rows, 3);
    QCOMPARE(map.at(6, 2).state, HeatMap::State::failed);
    QCOMPARE(map.at(6, 2).failures, 4);  // four values of noise
    QCOMPARE(map.at(0, 0).state, HeatMap::State::ok);
    QVERIFY(std::abs(map.at(0, 0).best - 2e-3) < 1e-9);
    QCOMPARE(map.at(3, 1).trials, 4);
  }

  void untriedCellsSayWhetherTheyMayBeTried() {
    const auto space = makeSpace();
    PointSet points = pointsOf(TrialStore(1e9), "s", space);
    const HeatMap map = heatMap(points, 0, 1, 5);
    int refused = 0;
    for (const HeatMap::Cell& cell : map.cells) {
      QCOMPARE(cell.trials, 0);
      refused += cell.state == HeatMap::State::refused ? 1 : 0;
    }
    QCOMPARE(refused, 1);
    QCOMPARE(map.at(6, 2).state, HeatMap::State::refused);
    // The cell keeps the third knob of the base point.
    QCOMPARE(space->knob_positions(map.at(4, 2).index)[2], space->knob_positions(5)[2]);
    QVERIFY(heatMap(points, 0, 9, 0).cells.empty());
  }

  void projectionFindsTheDirectionOfMostVariance() {
    // Two knobs that always change together carry twice the variance of the third.
    auto space = std::make_shared<space::ConfigSpace>();
    space->define_knob("a", {0, 1, 3, 7});
    space->define_knob("b", {0, 1, 3, 7});
    space->define_knob("c", {0, 1, 3, 7});
    TrialStore store(1e9);
    std::mt19937 rng(3);
    for (int i = 0; i < 400; ++i) {
      const int p = static_cast<int>(rng() % 4), q = static_cast<int>(rng() % 4);
      db::TrialOutcome t;
      t.number = i + 1, t.space = "s", t.index = space->index_of({p, p, q}), t.status = records::Status::ok, t.seconds = 1;
      store.append(t);
    }
    const PointSet points = pointsOf(store, "s", space);
    const Projection projection = project(points);
    QCOMPARE(projection.features.size(), size_t{3});
    QVERIFY(std::abs(projection.share[0] - 2.0 / 3) < 0.02);
    QVERIFY(std::abs(projection.share[1] - 1.0 / 3) < 0.02);
    QVERIFY(std::abs(projection.weights[0][0] - projection.weights[0][1]) < 1e-6);
    QVERIFY(std::abs(projection.weights[0][2]) < 0.15);
    QCOMPARE(projection.x.size(), size_t{400});
    // Deterministic.
    QVERIFY(project(points).x == projection.x);
  }

  void importanceFindsTheKnobThatMatters() {
    const auto space = makeSpace();
    const std::vector<double> shares = importance(pointsOf(filled(*space), "s", space));
    QCOMPARE(shares.size(), size_t{3});
    QVERIFY(shares[0] > 0.9);
    QVERIFY(shares[1] < 0.1);
    QVERIFY(shares[2] < 0.05);
    QVERIFY(importance(pointsOf(TrialStore(1), "s", space)).empty());
  }
};

QTEST_APPLESS_MAIN(LandscapeTest)
#include "landscape_data_test.moc"
