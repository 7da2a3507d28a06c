// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/features.h"

#include <QtTest>
#include <cmath>
#include <map>
#include <set>

#include "engine/cost/features/curve.h"
#include "engine/cost/features/itervar.h"
#include "engine/lower/lower.h"
#include "tests/engine/tune/tune_fixture.h"

using namespace tw;
using namespace tw::cost;

namespace {

/// Matrix product [m, k] x [n, k] in three plain loops.
std::vector<LoopTouches> plain_dense(int64_t m, int64_t n, int64_t k) {
  const auto func = lower::lower(schedule::Schedule(tune::fixture::dense(m, n, k).dag), "dense");
  return loop_touches(*func);
}

const LoopTouches& loop_of(const std::vector<LoopTouches>& loops, double extent) {
  const auto found = std::find_if(loops.begin(), loops.end(), [&](const LoopTouches& l) { return l.extent == extent; });
  if (found == loops.end()) qFatal("no loop of that length");
  return *found;
}

}  // namespace

class FeaturesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Models that learned say of which features; a version goes up when their numbers mean something else.
  void versions() {
    const std::map<std::string, int> versions = {{"knob", 1}, {"itervar", 1}, {"curve", 1}, {"stores", 1}, {"ansor", 1}, {"tenset", 1}, {"symbols", 1}, {"felix", 1}, {"pam", 1}};
    QCOMPARE(features().size(), versions.size());
    for (const FeatureDef& f : features()) QCOMPARE(f.version, versions.at(f.name));
  }
  void touches_of_a_matrix_product() {
    const auto loops = plain_dense(4, 8, 16);
    const LoopTouches &rows = loop_of(loops, 4), &columns = loop_of(loops, 8), &sum = loop_of(loops, 16);
    QCOMPARE(rows.level, 0);
    QCOMPARE(columns.topdown, 32.0);
    QCOMPARE(sum.topdown, 512.0);
    QCOMPARE(sum.muls, 1.0);
    QCOMPARE(sum.adds, 1.0);
    QCOMPARE(rows.muls, 0.0);
    // x[i, k]: each row is read once for every column; seen from the outside it has 4 x 16 elements, each used 8 times.
    const Touch &x_rows = rows.touches.at("x_0"), &x_columns = columns.touches.at("x_0"), &x_sum = sum.touches.at("x_0");
    QCOMPARE(x_rows.stride, 16.0);
    QCOMPARE(x_columns.stride, 0.0);
    QCOMPARE(x_sum.stride, 1.0);
    QCOMPARE(x_rows.count, 64.0);
    QCOMPARE(x_rows.reuse, 8.0);
    QCOMPARE(x_columns.count, 16.0);
    QCOMPARE(x_sum.count, 16.0);
    QCOMPARE(x_sum.reuse, 1.0);
    // w[j, k] is read whole for every row.
    QCOMPARE(rows.touches.at("w_0").count, 128.0);
    QCOMPARE(rows.touches.at("w_0").reuse, 4.0);
    QCOMPARE(rows.bottomup, 512.0);
  }
  void itervar_has_a_block_for_each_loop() {
    const auto loops = plain_dense(4, 8, 16);
    size_t length = 0;
    for (const LoopTouches& l : loops) length += 18 + 3 * l.touches.size();
    const std::vector<float> v = itervar_vector(loops);
    QCOMPARE(v.size(), length);
    QCOMPARE(v[0], static_cast<float>(std::log2(5.0)));
    QCOMPARE(v[4 + 9], 1.0F);  // serial
  }
  void curve_does_not_depend_on_depth() {
    const auto loops = plain_dense(4, 8, 16);
    const std::vector<float> v = curve_vector(loops);
    std::set<std::string> arrays;
    for (const LoopTouches& l : loops) {
      for (const auto& [key, t] : l.touches) arrays.insert(t.array);
    }
    QCOMPARE(v.size(), arrays.size() * 160);
    for (const float x : v) QVERIFY(std::isfinite(x));
  }
  void every_kind_tells_points_apart_data() {
    QTest::addColumn<QString>("name");
    for (const FeatureDef& f : features()) QTest::newRow(f.name) << f.name;
  }
  void every_kind_tells_points_apart() {
    QFETCH(QString, name);
    const FeatureDef* def = find_feature(name.toStdString());
    QVERIFY(def != nullptr);
    const records::Task task = tune::fixture::dense(64, 64, 64);
    const space::Template* t = space::find_template(*task.dag, task.target);
    const space::ConfigSpace space = t->space(*task.dag, task.target);
    std::set<std::vector<float>> seen;
    int valid = 0;
    const auto input = [&](int64_t i) { return FeatureInput{task.dag, task.target, t, &space, i}; };
    for (int64_t i = 0; i < space.size() && valid < 20; i += std::max<int64_t>(1, space.size() / 40)) {
      const auto rows = def->extract(input(i));
      if (!rows) continue;
      ++valid;
      seen.insert(rows->values);
      if (def->rows_per == RowsPer::candidate) QCOMPARE(rows->count, size_t{1});
      for (const float x : rows->values) QVERIFY(std::isfinite(x));
      if (def->columns > 0) QCOMPARE(rows->columns(), def->columns);
      QVERIFY(*def->extract(input(i)) == *rows);
    }
    QVERIFY(valid >= 10);
    QVERIFY2(static_cast<int>(seen.size()) > valid / 2, qPrintable(QString("%1 of %2").arg(seen.size()).arg(valid)));
  }
  /// What looks at the loops sees the same in a candidate's steps as in the point that they come from, but for the knobs that the loops do not show.
  void steps_and_their_point_look_alike() {
    const records::Task task = tune::fixture::dense(64, 64, 64);
    const space::Template* t = space::find_template(*task.dag, task.target);
    const space::ConfigSpace space = t->space(*task.dag, task.target);
    int compared = 0;
    for (int64_t i = 0; i < space.size() && compared < 5; i += 97) {
      const auto schedule = t->apply(task.dag, task.target, *space.get(i));
      if (!schedule) continue;
      FeatureInput by_steps{task.dag, task.target};
      by_steps.steps = &schedule->steps();
      for (const char* name : {"itervar", "curve", "stores"}) {
        const auto of_point = find_feature(name)->extract({task.dag, task.target, t, &space, i}), of_steps = find_feature(name)->extract(by_steps);
        QVERIFY(of_point && of_steps && of_steps->columns() > 0 && of_steps->columns() <= of_point->columns());
        QVERIFY(std::equal(of_steps->values.begin(), of_steps->values.end(), of_point->values.begin()));
      }
      QCOMPARE(find_feature("knob")->extract(by_steps).error().code, ErrorCode::not_applicable);
      ++compared;
    }
    QCOMPARE(compared, 5);
  }
  void what_cannot_be_lowered_is_an_error() {
    const records::Task task = tune::fixture::dense(64, 64, 64);
    const std::vector<schedule::Step> nonsense = {schedule::ComputeInlineStep{99}};
    FeatureInput input{task.dag, task.target};
    input.steps = &nonsense;
    QVERIFY(!find_feature("itervar")->extract(input));
  }
};

QTEST_APPLESS_MAIN(FeaturesTest)
#include "features_test.moc"
