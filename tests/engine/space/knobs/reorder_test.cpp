// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/reorder.h"

#include <QtTest>
#include <algorithm>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::space;

namespace {

using Orders = std::vector<std::vector<int>>;

Orders orders(int num_axes, const ReorderOptions& options) {
  Orders result;
  for (const KnobValue& v : enumerate_reorder(num_axes, options)) result.push_back(v.reorder);
  return result;
}

}  // namespace

class ReorderTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void identity() { QCOMPARE(orders(3, {}), (Orders{{0, 1, 2}})); }
  void all_is_lexicographic() {
    QCOMPARE(orders(3, {.policy = "all"}), (Orders{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
    QCOMPARE(orders(5, {.policy = "all"}).size(), size_t{120});
  }
  void interval_excludes_its_end() {
    QCOMPARE(orders(4, {.policy = "interval_all", .begin = 1, .end = 3}), (Orders{{0, 1, 2, 3}, {0, 2, 1, 3}}));
    QCOMPARE(orders(11, {.policy = "interval_all", .begin = 6, .end = 11}).size(), size_t{120});
  }
  void candidates_are_verbatim() { QCOMPARE(orders(2, {.policy = "candidate", .candidates = {{1, 0}, {0, 1}}}), (Orders{{1, 0}, {0, 1}})); }
  void interleave_gives_the_one_merge() {
    // Spatial chains y = 0 1 2, x = 3 4 5; reduce chains k = 6 7, r = 8.
    const ReorderOptions o{.policy = "interleave", .spatial = {{0, 1, 2}, {3, 4, 5}}, .reduce = {{6, 7}, {8}}};
    QCOMPARE(orders(9, o), (Orders{{0, 3, 1, 4, 6, 2, 5, 7, 8}}));
  }
  void interleave_cuda_puts_spatial_last() {
    const ReorderOptions o{.policy = "interleave_cuda", .spatial = {{0, 1, 2}, {3, 4, 5}}, .reduce = {{6, 7}, {8}}};
    QCOMPARE(orders(9, o), (Orders{{0, 3, 1, 4, 6, 7, 8, 2, 5}}));
  }
  void equal_chains_take_turns() {
    QCOMPARE(orders(4, {.policy = "interleave", .spatial = {{0, 1}, {2, 3}}}), (Orders{{0, 2, 1, 3}}));
    QCOMPARE(orders(5, {.policy = "interleave_cuda", .spatial = {{0}, {1}}, .reduce = {{2}, {3, 4}}}), (Orders{{3, 2, 4, 0, 1}}));
  }
  void intervals_keep_what_is_outside() {
    const Orders found = orders(6, {.policy = "interval_all", .begin = 2, .end = 5});
    QCOMPARE(found.size(), size_t{6});
    QCOMPARE(found.front(), (std::vector<int>{0, 1, 2, 3, 4, 5}));
    QCOMPARE(found[1], (std::vector<int>{0, 1, 2, 4, 3, 5}));
    QCOMPARE(found.back(), (std::vector<int>{0, 1, 4, 3, 2, 5}));
    QVERIFY(std::is_sorted(found.begin(), found.end()));
  }
  /// AutoTVM cannot write the identity into a log; here it is a list as every other order.
  void the_identity_is_logged() {
    ConfigSpace s;
    s.define_reorder("order", 3, "identity");
    QCOMPARE(s.get(0)->json_text(), std::string(R"([["order","re",[0,1,2]]])"));
    QCOMPARE(s.from_json(s.get(0)->json_text())->index(), 0);
  }
  void wrong_use_is_a_bug() {
    QVERIFY_EXCEPTION_THROWN(orders(2, {.policy = "sorted"}), InternalError);
    QVERIFY_EXCEPTION_THROWN(orders(2, {.policy = "candidate", .candidates = {{0, 0}}}), InternalError);
    QVERIFY_EXCEPTION_THROWN(orders(2, {.policy = "interval_all", .begin = 0, .end = 3}), InternalError);
  }
};

QTEST_APPLESS_MAIN(ReorderTest)
#include "reorder_test.moc"
