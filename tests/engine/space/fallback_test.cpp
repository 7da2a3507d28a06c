// SPDX-License-Identifier: Apache-2.0
#include "engine/space/fallback.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::space;

namespace {

using Sizes = std::vector<int64_t>;

ConfigSpace two_splits(int64_t a, int64_t b) {
  ConfigSpace s;
  s.define_split("a", a, {.num_outputs = 3});
  s.define_split("b", b, {.num_outputs = 2});
  s.define_knob("unroll", {0, 512});
  return s;
}

Json reference(const Sizes& a, const Sizes& b, int64_t unroll) {
  return Json::array({Json::array({"a", "sp", a}), Json::array({"b", "sp", b}), Json::array({"unroll", "ot", unroll})});
}

}  // namespace

class FallbackTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void splits_take_the_largest_divisors_from_the_inside() {
    QCOMPARE(fallback_split(128, {-1, 8, 4}), (Sizes{4, 8, 4}));
    QCOMPARE(fallback_split(49, {-1, 8, 4}), (Sizes{7, 7, 1}));
    QCOMPARE(fallback_split(30, {-1, 4}), (Sizes{10, 3}));
    QCOMPARE(fallback_split(30, {-1, -1}), (Sizes{1, 30}));
    QCOMPARE(fallback_split(7, {2, 4}), (Sizes{1, 1}));
    QVERIFY_EXCEPTION_THROWN(fallback_split(7, {-1, 0}), InternalError);
  }
  void the_reference_that_shares_most_divisors_lends_its_tiles() {
    const ConfigSpace space = two_splits(64, 30);
    // 64 has 7 divisors, 30 has 8. The first shares {1} and all of 30; the second all of 64 and {1, 2}.
    const std::vector<Json> references = {reference({3, 1, 1}, {5, 6}, 0), reference({16, 8, 4}, {2, 2}, 512)};
    const ConfigEntity point = nearest_point(space, references);
    QCOMPARE(point.split("a"), (Sizes{2, 8, 4}));
    QCOMPARE(point.split("b"), (Sizes{15, 2}));
    QCOMPARE(point.integer("unroll"), 512);
    QCOMPARE(space.get(point.index())->json_text(), point.json_text());
  }
  void the_first_of_equal_references_counts() {
    const ConfigEntity point = nearest_point(two_splits(64, 30), std::vector<Json>{reference({8, 8, 1}, {15, 2}, 0), reference({8, 1, 8}, {2, 15}, 512)});
    QCOMPARE(point.split("a"), (Sizes{8, 8, 1}));
    QCOMPARE(point.integer("unroll"), 0);
  }
  void an_open_first_factor_is_left_out() {
    QCOMPARE(nearest_point(two_splits(64, 30), std::vector<Json>{reference({-1, 8, 4}, {-1, 6}, 0)}).split("b"), (Sizes{5, 6}));
  }
  void what_does_not_fit_gives_nothing() {
    const ConfigSpace space = two_splits(64, 30);
    QVERIFY(nearest_point(space, {}).index() < 0);
    for (const char* bad :
         {"{}", "[]", R"([["a","sp",[1,2]],["b","sp",[1,2]],["unroll","ot",0]])", R"([["a","sp",[1,0,2]],["b","sp",[1,2]],["unroll","ot",0]])",
          R"([["a","sp",[2,"x",2]],["b","sp",[1,2]],["unroll","ot",0]])", R"([["a","sp",[4611686018427387904,16,16]],["b","sp",[1,2]],["unroll","ot",0]])"})
      QVERIFY2(nearest_point(space, std::vector<Json>{Json::parse(bad)}).index() < 0, bad);
    QVERIFY(nearest_point(space, std::vector<Json>{reference({1, 1, 1}, {1, 1}, 7)}).index() < 0);  // no such value of the knob
    ConfigSpace filtered = two_splits(64, 30);
    filtered.add_filter([](const ConfigEntity& e) { return e.integer("unroll") == 0; }, "none");
    QVERIFY(nearest_point(filtered, std::vector<Json>{reference({1, 1, 1}, {1, 1}, 512)}).index() < 0);
  }
};

QTEST_APPLESS_MAIN(FallbackTest)
#include "fallback_test.moc"
