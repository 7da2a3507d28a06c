// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/feature_study.h"

#include <QtTest>
#include <cmath>

using namespace tw;
using namespace tw::cost;

namespace {

enum Column { Tile, Order, Cache, Half, Label, Size };

/// Two kinds of devices, by the size of their cache: on one small tiles are fast, on the other large ones. A label tells devices apart and says nothing, half
/// of the cache what the cache says, and the size of the problem changes no order. `matters`: whether the tile that is best depends on the cache at all.
StudyTable table_of(int devices, bool matters) {
  StudyTable t;
  t.columns = {{"tile", FeatureKind::schedule}, {"order", FeatureKind::schedule}, {"cache", FeatureKind::hardware},
               {"half", FeatureKind::hardware}, {"label", FeatureKind::hardware}, {"size", FeatureKind::property}};
  for (int d = 0; d < devices; ++d) {
    t.devices.push_back("d" + std::to_string(d));
    const bool large = d % 4 == 1 || d % 4 == 2;  // neighbours by label are as often alike as not
    for (int size = 1; size <= 2; ++size) {
      StudyTable::Task task{static_cast<size_t>(d), {}};
      for (int tile = 0; tile < 16; ++tile)
        for (int order = 0; order < 2; ++order) {
          const int away = std::abs(tile - (matters && large ? 13 : 2));
          task.candidates.push_back({{static_cast<float>(tile), static_cast<float>(order), large ? 64.0F : 16.0F, large ? 32.0F : 8.0F, static_cast<float>(d),
                                      static_cast<float>(size)},
                                     size * (1 + 0.5 * away + 0.01 * order)});
        }
      task.candidates.back().seconds = HUGE_VAL;
      t.tasks.push_back(std::move(task));
    }
  }
  return t;
}

const FeatureWorth* find(const FeatureStudy& s, const std::string& name) {
  for (const FeatureWorth& w : s.worths)
    if (w.name == name) return &w;
  return nullptr;
}

}  // namespace

class FeatureStudyTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void whatDecidesHelpsAndALabelDoesNot() {
    const auto s = feature_study(table_of(8, true), {.refits = 3});
    QVERIFY2(s, s ? "" : s.error().message.c_str());
    // What changes alike is one thing.
    const FeatureWorth *cache = find(*s, "cache, half"), *label = find(*s, "label"), *all = find(*s, "all hardware facts"), *size = find(*s, "size");
    QVERIFY(cache && label && all && size);
    QCOMPARE(s->worths.size(), size_t{4});
    QVERIFY(all->is_group && size->is_group && !cache->is_group);
    QVERIFY2(surely(*cache) == Surely::helps && cache->pairs_alone.low > 0.1 && cache->trials_alone.high < 1,
             qPrintable(QString::number(cache->pairs_alone.low)));
    QVERIFY(cache->pairs_beside.low > 0.1);
    QVERIFY(surely(*label) != Surely::helps || label->pairs_alone.mean < 0.5 * cache->pairs_alone.mean);
    QCOMPARE(surely(*size), Surely::open);
    QVERIFY(std::abs(size->pairs_alone.mean) < 0.05);
    QCOMPARE(s->worths.front().kind, FeatureKind::hardware);
    // Told the cache, the fastest is among the first; without it, half of the devices look like the others.
    QVERIFY(s->all.pairs > 0.9 && s->all.pairs > s->schedule.pairs + 0.1);
    QVERIFY(s->all.trials < s->schedule.trials && s->all.trials < s->chance);
    QCOMPARE(s->devices.size(), size_t{8});
    QCOMPARE(s->candidates, size_t{8 * 2 * 32});
  }
  void whatDecidesNothingDoesNotHelp() {
    const auto s = feature_study(table_of(6, false), {.refits = 3});
    QVERIFY(s);
    QVERIFY(s->schedule.pairs > 0.95);
    for (const FeatureWorth& w : s->worths) QVERIFY2(surely(w) != Surely::helps || w.pairs_alone.mean < 0.02, w.name.c_str());
  }
  void isTheSameWithAnyNumberOfThreads() {
    const auto one = feature_study(table_of(4, true), {.refits = 2}), three = feature_study(table_of(4, true), {.refits = 2, .threads = 3});
    QVERIFY(one && three);
    for (size_t i = 0; i < one->worths.size(); ++i) {
      QCOMPARE(one->worths[i].name, three->worths[i].name);
      QCOMPARE(one->worths[i].pairs_alone.low, three->worths[i].pairs_alone.low);
      QCOMPARE(one->worths[i].trials_beside.mean, three->worths[i].trials_beside.mean);
    }
  }
  void twoDevicesLeaveNoFactsToLearn() {
    const auto s = feature_study(table_of(2, true), {.refits = 2});
    QVERIFY(s);
    QVERIFY(!s->with_hardware);
    QCOMPARE(s->worths.size(), size_t{1});
    QCOMPARE(s->worths[0].kind, FeatureKind::property);
  }
  void saysWhatItNeeds() {
    const auto one = feature_study(table_of(1, true), {});
    QVERIFY(!one && one.error().message == "Expected trials of at least two devices, of which one is left out at a time, found 1");
    // A device on which nothing ran is none.
    StudyTable failed = table_of(2, true);
    for (auto& task : failed.tasks)
      if (task.device == 1)
        for (auto& c : task.candidates) c.seconds = HUGE_VAL;
    QVERIFY(!feature_study(failed, {}));
    StudyTable same = table_of(2, true);
    std::erase_if(same.tasks, [](const auto& t) { return t.candidates[0].features[Size] == 2; });
    const auto nothing = feature_study(same, {});
    QVERIFY(!nothing && nothing.error().message.starts_with("Expected at least three devices, or several shapes"));
    StudyTable blind = table_of(3, true);
    for (auto& c : blind.columns) c.kind = FeatureKind::property;
    QVERIFY(!feature_study(blind, {}));
    std::stop_source stopped;
    stopped.request_stop();
    const auto cancelled = feature_study(table_of(3, true), {}, stopped.get_token());
    QVERIFY(!cancelled && cancelled.error().code == ErrorCode::cancelled);
  }
};

QTEST_APPLESS_MAIN(FeatureStudyTest)
#include "feature_study_test.moc"
