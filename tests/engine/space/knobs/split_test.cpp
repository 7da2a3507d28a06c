// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/split.h"

#include <QtTest>
#include <functional>
#include <numeric>
#include <set>

using namespace tw;
using namespace tw::space;

namespace {

using Sizes = std::vector<int64_t>;

std::vector<Sizes> splits(int64_t extent, const SplitOptions& options) {
  std::vector<Sizes> result;
  for (const KnobValue& v : enumerate_split(extent, options)) result.push_back(v.split);
  return result;
}

Sizes inner_sizes(int64_t extent, const std::string& policy, int64_t limit = INT64_MAX) {
  SplitOptions o;
  o.policy = policy;
  o.max_factor = limit;
  Sizes result;
  for (const Sizes& s : splits(extent, o)) result.push_back(s[1]);
  return result;
}

}  // namespace

class SplitTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void the_innermost_factor_varies_slowest() {
    SplitOptions o;
    o.num_outputs = 3;
    const std::vector<Sizes> expected = {{-1, 1, 1}, {-1, 2, 1}, {-1, 4, 1}, {-1, 8, 1}, {-1, 1, 2},
                                         {-1, 2, 2}, {-1, 4, 2}, {-1, 1, 4}, {-1, 2, 4}, {-1, 1, 8}};
    QCOMPARE(splits(8, o), expected);
  }
  void counts_of_four_way_factor_splits() {
    SplitOptions o;
    o.num_outputs = 4;
    const std::vector<std::pair<int64_t, size_t>> known = {{7, 4},     {14, 16},   {28, 40},   {56, 80},    {112, 140}, {64, 84},
                                                           {128, 120}, {256, 165}, {512, 220}, {1024, 286}, {2048, 364}};
    for (const auto& [extent, count] : known) QCOMPARE(enumerate_split(extent, o).size(), count);
  }
  /// Of an axis of length p1^e1 p2^e2 ..., n factors can be chosen in the product of C(ei + n - 1, n - 1) ways.
  void counts_of_factor_splits() {
    for (const int64_t extent : {1, 2, 7, 30, 36, 49, 100, 128, 720, 1000, 3072}) {
      for (int n = 2; n <= 4; ++n) {
        int64_t expected = 1, rest = extent;
        for (int64_t p = 2; rest > 1; ++p) {
          int e = 0;
          for (; rest % p == 0; rest /= p) ++e;
          int64_t ways = 1;
          for (int i = 1; i < n; ++i) ways = ways * (e + i) / i;
          expected *= ways;
        }
        SplitOptions o;
        o.num_outputs = n;
        const std::vector<Sizes> found = splits(extent, o);
        QCOMPARE(found.size(), static_cast<size_t>(expected));
        QCOMPARE(std::set<Sizes>(found.begin(), found.end()).size(), found.size());
        for (const Sizes& s : found) {
          const Sizes real = resolve_split(extent, s);
          QCOMPARE(std::accumulate(real.begin(), real.end(), int64_t{1}, std::multiplies<>()), extent);
        }
      }
    }
  }
  /// The same over every policy: products up to the extent, divisors of it alone where tails are forbidden, inner sizes slowest.
  void policies_and_tails() {
    for (const char* policy : {"factors", "power2", "verbose"}) {
      for (const bool no_tail : {false, true}) {
        SplitOptions o;
        o.num_outputs = 3;
        o.policy = policy;
        o.no_tail = no_tail;
        const Sizes factors = inner_sizes(60, policy);  // all of the policy, in its order
        std::vector<Sizes> expected;
        for (const int64_t last : factors)
          for (const int64_t middle : factors)
            if (middle * last == 60 || (middle * last < 60 && (!no_tail || 60 % (middle * last) == 0))) expected.push_back({-1, middle, last});
        QCOMPARE(splits(60, o), expected);
      }
    }
  }
  void power2_has_tails() { QCOMPARE(inner_sizes(10, "power2"), (Sizes{1, 2, 4, 8})); }
  void power2_without_tails() {
    SplitOptions o;
    o.policy = "power2";
    o.no_tail = true;
    QCOMPARE(splits(12, o), (std::vector<Sizes>{{-1, 1}, {-1, 2}, {-1, 4}}));
  }
  void factors_with_tails() {
    SplitOptions o;
    o.num_outputs = 3;
    o.no_tail = false;
    // 2 * 2 = 4 does not divide 6 but is smaller; 2 * 3 equals it; 3 * 3 exceeds it.
    const std::vector<Sizes> expected = {{-1, 1, 1}, {-1, 2, 1}, {-1, 3, 1}, {-1, 6, 1}, {-1, 1, 2},
                                         {-1, 2, 2}, {-1, 3, 2}, {-1, 1, 3}, {-1, 2, 3}, {-1, 1, 6}};
    QCOMPARE(splits(6, o), expected);
  }
  void verbose_walks_as_python_does() {
    // Printed by CPython 3.11: list(set().union(set(divisors), set(powers))).
    QCOMPARE(inner_sizes(7, "verbose"), (Sizes{1, 2, 4, 7}));
    QCOMPARE(inner_sizes(14, "verbose"), (Sizes{1, 2, 4, 7, 8, 14}));
    QCOMPARE(inner_sizes(28, "verbose"), (Sizes{1, 2, 4, 7, 8, 14, 16, 28}));
    QCOMPARE(inner_sizes(72, "verbose"), (Sizes{64, 1, 2, 3, 4, 6, 8, 9, 72, 12, 16, 18, 24, 32, 36}));
    QCOMPARE(inner_sizes(164, "verbose"), (Sizes{32, 1, 2, 64, 4, 164, 128, 8, 41, 16, 82}));
    QCOMPARE(inner_sizes(56, "verbose"), (Sizes{32, 1, 2, 4, 7, 8, 14, 16, 56, 28}));
    QCOMPARE(inner_sizes(112, "verbose", 64), (Sizes{32, 1, 2, 64, 4, 7, 8, 14, 16, 56, 28}));
    QCOMPARE(inner_sizes(100, "verbose"), (Sizes{32, 1, 2, 64, 4, 5, 100, 8, 10, 16, 50, 20, 25}));
    QCOMPARE(inner_sizes(224, "verbose"), (Sizes{64, 1, 2, 128, 4, 7, 8, 14, 16, 28, 32, 224, 112, 56}));
    QCOMPARE(inner_sizes(1000, "verbose"), (Sizes{64, 1, 2, 128, 4, 5, 256, 512, 8, 200, 10, 16, 20, 25, 32, 100, 40, 1000, 50, 500, 250, 125}));
  }
  void max_factor_bounds_every_factor() {
    SplitOptions o;
    o.num_outputs = 3;
    o.max_factor = 2;
    QCOMPARE(splits(8, o), (std::vector<Sizes>{{-1, 1, 1}, {-1, 2, 1}, {-1, 1, 2}, {-1, 2, 2}}));
  }
  void filters_see_the_derived_outer_factor_as_minus_one() {
    SplitOptions o;
    o.filter = [](const Sizes& s) { return s[0] == -1 && s[1] > 2; };
    QCOMPARE(splits(8, o), (std::vector<Sizes>{{-1, 4}, {-1, 8}}));
  }
  void candidates_are_verbatim() {
    SplitOptions o;
    o.policy = "candidate";
    o.candidates = {{4, 2}, {-1, 8}};
    QCOMPARE(splits(8, o), o.candidates);
  }
  void wrong_use_is_a_bug() {
    SplitOptions o;
    o.policy = "primes";
    QVERIFY_EXCEPTION_THROWN(enumerate_split(8, o), InternalError);
    o = {};
    o.num_outputs = 1;
    QVERIFY_EXCEPTION_THROWN(enumerate_split(8, o), InternalError);
    o = {};
    QVERIFY_EXCEPTION_THROWN(enumerate_split(0, o), InternalError);
  }
  void resolves_by_rounding_up() {
    QCOMPARE(resolve_split(10, {-1, 4}), (Sizes{3, 4}));
    QCOMPARE(resolve_split(10, {5, 2}), (Sizes{5, 2}));
  }
};

QTEST_APPLESS_MAIN(SplitTest)
#include "split_test.moc"
