// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/cache_model.h"

#include <QtTest>

using namespace tw;
using simulate::CacheLevel;
using simulate::CacheModel;

/// Sequences of accesses whose hits and evictions are worked out by hand.
class CacheModelTest : public QObject {
  Q_OBJECT

  /// Where each line was found: 0 in the first level, ...; `lines` are numbers of lines of 64 bytes.
  static std::string found(CacheModel& cache, const std::vector<int64_t>& lines) {
    std::string out;
    for (const int64_t l : lines) out += std::to_string(cache.access(l * 64 + 5));
    return out;
  }

 private Q_SLOTS:
  void theLineUsedLongestAgoMakesRoom() {
    CacheModel one({{"L1", 2 * 64, 2, 64}});  // one set of two lines
    // 7, 8 enter; 7 is used again, so 9 takes 8's place; 8 takes 7's; 9 is still there.
    QCOMPARE(found(one, {7, 8, 7, 9, 8, 9, 7}), std::string("1101101"));
    QCOMPARE(one.evictions(0), int64_t{3});
    QCOMPARE(std::vector<int64_t>(one.lines(0).begin(), one.lines(0).end()), (std::vector<int64_t>{7, 9}));
  }
  void linesOfOneSetCompeteAndOthersDoNot() {
    CacheModel cache({{"L1", 4 * 64, 2, 64}});  // two sets of two: even and odd lines
    QCOMPARE(found(cache, {0, 2, 4, 1, 0, 1, 3}), std::string("1111101"));
    // 0 made room for 4, then 2 for 0.
    QCOMPARE(cache.evictions(0), int64_t{2});
    QCOMPARE(std::vector<int64_t>(cache.lines(0).begin(), cache.lines(0).end()), (std::vector<int64_t>{0, 4, 3, 1}));
  }
  void aRoundOneLineLongerThanTheCacheNeverHits() {
    CacheModel cache({{"L1", 4 * 64, 4, 64}});
    QCOMPARE(found(cache, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}), std::string(10, '1'));
    CacheModel fits({{"L1", 4 * 64, 4, 64}});
    QCOMPARE(found(fits, {0, 1, 2, 3, 0, 1, 2, 3}), std::string("11110000"));
  }
  void theSecondLevelHoldsWhatTheFirstGaveUp() {
    CacheModel cache({{"L1", 64, 1, 64}, {"L2", 4 * 64, 4, 64}});
    QCOMPARE(found(cache, {0, 1, 0, 0, 2, 3, 4, 1, 0}), std::string("221022222"));
    QCOMPARE(cache.evictions(1), int64_t{3});  // 1 for 4, then 0 for 1, then 2 for 0
  }
  void aCopyGoesOnByItself() {
    CacheModel cache({{"L1", 2 * 64, 2, 64}});
    found(cache, {1, 2});
    CacheModel copy = cache;
    QCOMPARE(found(copy, {3, 1}), std::string("11"));
    QCOMPARE(found(cache, {1}), std::string("0"));
  }
  void levelsAreTheTargets() {
    Target t;
    t.l1d_bytes = 48 * 1024, t.l1d_ways = 12, t.l2_bytes = 1 << 20;
    const auto levels = simulate::cache_levels(t);
    QCOMPARE(levels.size(), size_t{2});
    QCOMPARE(levels[0].sets(), int64_t{64});
    QCOMPARE(levels[0].ways, 12);
    QCOMPARE(levels[1].bytes, t.l2_bytes);
    const auto smaller = simulate::cache_levels(t, 16);
    QCOMPARE(smaller[0].bytes, int64_t{3 * 1024});
    QCOMPARE(smaller[0].sets(), int64_t{4});
    QCOMPARE(simulate::cache_levels(t, 1 << 20)[0].sets(), int64_t{1});
    const Target gpu = parse_target("cuda:a100").value();
    QCOMPARE(simulate::cache_levels(gpu)[0].bytes / 1024, int64_t{192});
    QCOMPARE(simulate::cache_levels(gpu)[0].line, 128);
  }
};

QTEST_APPLESS_MAIN(CacheModelTest)
#include "cache_model_test.moc"
