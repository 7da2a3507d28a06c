// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/fingerprint.h"

#include <QtTest>
#include <map>

#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::schedule;

namespace {

te::DagPtr product() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {16, 32}, kFloat32), y = b.placeholder("y", {32, 16}, kFloat32);
  return std::move(b).finish({b.reduce("c", {16, 16}, {32}, te::Reducer::sum,
                                       [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * y(r[0], s[1]); })});
}

uint64_t of(const std::vector<Step>& steps) { return fingerprint(Schedule::replay(product(), steps).value()); }

}  // namespace

class FingerprintTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void lists_of_steps_that_come_to_the_same_are_one() {
    QCOMPARE(of({SplitStep{2, 0, 16, {4, 2}}}), of({SplitStep{2, 0, 16, {8}}, SplitStep{2, 1, 8, {2}}}));
    QCOMPARE(of({SplitStep{2, 0, 16, {8}}, FuseStep{2, {0, 1}}}), of({}));
    QCOMPARE(of({SplitStep{2, 0, 16, {8}}, SplitStep{2, 2, 16, {4}}}), of({SplitStep{2, 1, 16, {4}}, SplitStep{2, 0, 16, {8}}}));
    QCOMPARE(of({SplitStep{2, 0, 16, {4}, false}}), of({SplitStep{2, 0, 16, {4}}}));
    QCOMPARE(of({SplitStep{2, 0, 16, {4}}, FollowSplitStep{2, 2, 0, 1}}), of({SplitStep{2, 0, 16, {4}}, SplitStep{2, 2, 16, {4}}}));
    QCOMPARE(of({FuseStep{2, {}}}), of({}));
    QCOMPARE(of({SplitStep{2, 0, 16, {1}}}), of({SplitStep{2, 0, 16, {16}}}));  // loops of one step are none
    QCOMPARE(of({AnnotationStep{2, 0, Annotation::parallel}, AnnotationStep{2, 1, Annotation::vectorize}}),
             of({AnnotationStep{2, 1, Annotation::vectorize}, AnnotationStep{2, 0, Annotation::parallel}}));
  }
  void what_differs_differs() {
    const std::vector<std::vector<Step>> all = {{},
                                                {SplitStep{2, 0, 16, {8}}},
                                                {SplitStep{2, 0, 16, {4}}},
                                                {SplitStep{2, 1, 16, {8}}},
                                                {ReorderStep{2, {1, 0, 2}}},  // equal extents, other axes
                                                {FuseStep{2, {0, 1}}},
                                                {AnnotationStep{2, 0, Annotation::parallel}},
                                                {AnnotationStep{2, 0, Annotation::unroll}},
                                                {CacheWriteStep{2, "local"}},
                                                {CacheReadStep{0, "local", {2}}},
                                                {CacheReadStep{0, "shared", {2}}},
                                                {CacheReadStep{0, "local", {2}}, ComputeAtStep{1, 3, 0}},
                                                {CacheReadStep{0, "local", {2}}, ComputeAtStep{1, 3, 1}},
                                                {LayoutStep{1, {{1, 0}, {0, 0}}}},
                                                {AutoUnrollStep{2, 16}},
                                                {AutoUnrollStep{2, 64}},
                                                {PadStep{2, 2, 5}}};
    std::map<uint64_t, size_t> seen;
    for (size_t i = 0; i < all.size(); ++i) {
      const Expected<Schedule> s = Schedule::replay(product(), all[i]);
      if (!s) continue;  // a primitive with another rule; most must apply
      const auto [place, fresh] = seen.emplace(fingerprint(*s), i);
      QVERIFY2(fresh, qPrintable(QString("%1 and %2").arg(place->second).arg(i)));
    }
    QVERIFY2(seen.size() >= 13, qPrintable(QString::number(seen.size())));
  }
  /// Every list of steps has one, and the next step that changes the outline of the loops changes it.
  void random_schedules_have_one() {
    Rng rng(3);
    int changed = 0;
    for (const tw::testing::NamedDag& d : tw::testing::sample_dags()) {
      for (int k = 0; k < 4; ++k) {
        const Schedule s = tw::testing::random_schedule(d.dag, rng, 12);
        QVERIFY(fingerprint(s) != 0);
        QCOMPARE(fingerprint(s), fingerprint(Schedule::replay(d.dag, s.steps()).value()));
        changed += fingerprint(s) != fingerprint(Schedule(d.dag));
      }
    }
    QVERIFY(changed > 90);
  }
};

QTEST_APPLESS_MAIN(FingerprintTest)
#include "fingerprint_test.moc"
