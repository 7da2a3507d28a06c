// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/resource_effects.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::cost;

namespace {

/// Threads that help until the fourth, a tile that is best at 32 whatever else, and a knob that does nothing; the noise is the same each time.
ResourceTable table_of(double noise) {
  ResourceTable t;
  t.resources = {{"threads", {1, 2, 3, 4, 6, 8}, {"1", "2", "3", "4", "6", "8"}}, {"tile", {4, 8, 16, 32, 64}, {"4", "8", "16", "32", "64"}}, {"order", {0, 1}, {"xy", "yx"}, false}};
  const double by_threads[] = {1, 2, 3, 4, 4.1, 4.2}, by_tile[] = {1, 1.5, 1.8, 2, 1.9};
  for (size_t a = 0; a < 6; ++a)
    for (size_t b = 0; b < 5; ++b)
      for (size_t c = 0; c < 2; ++c) t.rows.push_back({{a, b, c}, by_threads[a] * by_tile[b] * (1 + noise * std::sin(static_cast<double>(17 * a + 5 * b + 3 * c)))});
  return t;
}

/// Share of the variance of the logarithms of `factors` among a product of independent ones.
double log_variance(std::initializer_list<double> factors) {
  double sum = 0, squares = 0;
  for (const double f : factors) sum += std::log(f), squares += std::log(f) * std::log(f);
  const double n = static_cast<double>(factors.size());
  return squares / n - sum * sum / n / n;
}

ResourceCurve curve_of(std::vector<double> middle, std::vector<std::vector<double>> refits) { return {middle, middle, middle, std::move(refits)}; }

}  // namespace

class ResourceEffectsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tooManyResourcesAreSaid() {
    ResourceTable t;
    for (int k = 0; k < 40; ++k) t.resources.push_back({std::to_string(k), {0, 1}, {"0", "1"}});
    for (size_t r = 0; r < 20; ++r) t.rows.push_back({std::vector<size_t>(40, r % 2), 1.0 + static_cast<double>(r)});
    const auto e = resource_effects(t, {});
    QVERIFY(!e && e.error().code == ErrorCode::resource_limit);
  }
  /// Speed is a product, so its logarithm a sum: shares are those of the factors' variances and nothing is left for pairs.
  void findsTheSharesOfAProduct() {
    const auto e = resource_effects(table_of(0), {.refits = 5});
    QVERIFY(e);
    const double threads = log_variance({1, 2, 3, 4, 4.1, 4.2}), tile = log_variance({1, 1.5, 1.8, 2, 1.9});
    QVERIFY(std::abs(e->effects[0].importance - threads / (threads + tile)) < 0.01);
    QVERIFY(std::abs(e->effects[1].importance - tile / (threads + tile)) < 0.01);
    QVERIFY(e->effects[2].importance < 1e-3);
    QVERIFY(e->pairs.size() == 3 && e->pairs[0].share < 0.01);
    QVERIFY(e->r_squared > 0.95);
    QCOMPARE(e->grid_points, size_t{60});
  }
  void curvesFollowTheFactors() {
    const auto e = resource_effects(table_of(0.02), {.refits = 20});
    QVERIFY(e);
    const ResourceEffect& threads = e->effects[0];
    for (size_t i = 1; i < 4; ++i) QVERIFY(std::abs(threads.partial.middle[i] / threads.partial.middle[0] / static_cast<double>(i + 1) - 1) < 0.06);
    for (const ResourceCurve* c : {&threads.slice, &threads.partial, &threads.best})
      for (size_t i = 0; i < 6; ++i) QVERIFY(c->low[i] <= c->middle[i] && c->middle[i] <= c->high[i] && c->low[i] < c->high[i]);
    // All points were measured, so the slice is too, and the best trial with a value is known.
    for (size_t i = 0; i < 6; ++i) QVERIFY(threads.measured[i] > 0 && std::abs(threads.slice.middle[i] / threads.measured[i] - 1) < 0.1);
    QVERIFY(std::abs(threads.best.middle[0] - 2) < 0.05);
    for (size_t i = 0; i < 6; ++i) {
      const auto& rows = table_of(0.02).rows;
      QVERIFY(threads.best_row[i] && threads.measured_row[i]);
      QVERIFY(rows[*threads.best_row[i]].at[0] == i && rows[*threads.best_row[i]].speed == threads.best.middle[i]);
      QVERIFY(rows[*threads.measured_row[i]].speed == threads.measured[i]);
    }
    QVERIFY(e->effects[1].best.middle[3] > e->effects[1].best.middle[4]);
    // The knee of threads is at the fourth, and the interval around it holds it.
    QVERIFY(threads.partial_knee && threads.best_knee);
    QCOMPARE(threads.partial_knee->at, 4.0);
    QVERIFY(threads.partial_knee->low <= 4 && threads.partial_knee->high >= 4 && threads.partial_knee->share > 0.8);
    QVERIFY(!e->effects[2].partial_knee);
  }
  /// A tile whose gain is less than the noise has a bend, but no knee.
  void noKneeWithinTheNoise() {
    ResourceTable t;
    t.resources = {{"tile", {1, 2, 3, 4}, {"1", "2", "3", "4"}}, {"draw", {0, 1, 2, 3, 4, 5, 6, 7}, {"0", "1", "2", "3", "4", "5", "6", "7"}, false}};
    const double by_tile[] = {1, 1.05, 1.055, 1.06};
    const auto knees = [&](double noise) {
      t.rows.clear();
      for (size_t a = 0; a < 4; ++a)
        for (size_t b = 0; b < 8; ++b) t.rows.push_back({{a, b}, by_tile[a] * (1 + noise * std::sin(static_cast<double>(7 * a + 3 * b)))});
      const auto e = resource_effects(t, {.refits = 20});
      return e && e->effects[0].partial_knee;
    };
    QVERIFY(knees(0.001));
    QVERIFY(!knees(0.3));
  }
  void isTheSameEachTime() {
    const auto a = resource_effects(table_of(0.05), {.refits = 3}), b = resource_effects(table_of(0.05), {.refits = 3}), c = resource_effects(table_of(0.05), {.refits = 3, .seed = 2});
    QVERIFY(a && b && c);
    QCOMPARE(a->effects[0].partial.low, b->effects[0].partial.low);
    QVERIFY(a->effects[0].partial.low != c->effects[0].partial.low);
    QCOMPARE(a->effects[0].partial.middle, c->effects[0].partial.middle);
  }
  void thinsLargeGrids() {
    const auto e = resource_effects(table_of(0), {.refits = 2, .most_points = 20});
    QVERIFY(e);
    QVERIFY(e->grid_points <= 20);
    QCOMPARE(e->effects[0].partial.middle.size(), size_t{6});
    QVERIFY(e->effects[0].partial.middle[5] > 3 * e->effects[0].partial.middle[0]);
  }
  void saysWhatItNeeds() {
    ResourceTable few = table_of(0);
    few.rows.resize(7);
    const auto r = resource_effects(few, {});
    QVERIFY(!r && r.error().message == "Expected at least 8 trials with a time, found 7");
    ResourceTable constant = table_of(0);
    for (Resource& one : constant.resources) one.values.resize(1), one.labels.resize(1);
    for (auto& row : constant.rows) row.at.assign(3, 0);
    QVERIFY(!resource_effects(constant, {}));
    std::stop_source stopped;
    stopped.request_stop();
    const auto cancelled = resource_effects(table_of(0), {}, stopped.get_token());
    QVERIFY(!cancelled && cancelled.error().code == ErrorCode::cancelled);
  }
  /// On a logarithmic axis from 1 to 16, 2^x against 2^2: they meet at 4.
  void findsWhereTheWinnerChanges() {
    const std::vector<double> values{1, 2, 8, 16};
    const ResourceCurve rising = curve_of({1, 2, 8, 16}, {{1, 2, 8, 16}, {2, 4, 16, 32}, {8, 8, 16, 32}}), flat = curve_of({4, 4, 4, 4}, {{4, 4, 4, 4}, {4, 4, 4, 4}, {4, 4, 4, 4}});
    const auto all = crossings(values, flat, rising);
    QCOMPARE(all.size(), size_t{1});
    QVERIFY(all[0].second_wins && std::abs(all[0].at - 4) < 1e-9);
    // The second refit meets it at 2 at the latest, the third never.
    QVERIFY(all[0].low < 4 && std::abs(all[0].high - 4) < 1e-9 && std::abs(all[0].share - 2.0 / 3) < 1e-9);
    QVERIFY(!crossings(values, rising, flat)[0].second_wins);
    QVERIFY(crossings(values, flat, flat).empty());
    QVERIFY(crossings(values, curve_of({0, 0, 4, 4}, {}), curve_of({9, 9, 9, 9}, {})).empty());
  }
};

QTEST_APPLESS_MAIN(ResourceEffectsTest)
#include "resource_effects_test.moc"
