// SPDX-License-Identifier: Apache-2.0
#include "engine/base/bounded_cache.h"

#include <QtTest>

using namespace tw;

class BoundedCacheTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void what_was_not_asked_for_longest_goes_first() {
    BoundedCache<int> cache(100);
    for (const auto& [key, value] : {std::pair("a", 1), {"b", 2}, {"c", 3}}) {
      cache.begin();
      cache.put(key, value, 40);
    }
    QCOMPARE(cache.bytes(), int64_t{80});
    QVERIFY(!cache.find("a"));
    cache.begin();
    QCOMPARE(*cache.find("b"), 2);
    cache.begin();
    cache.put("d", 4, 30);
    QVERIFY(cache.find("b") && !cache.find("c") && cache.find("d"));
  }
  void what_belongs_together_stays_however_much_it_is() {
    BoundedCache<int> cache(100);
    cache.begin();
    cache.put("a", 1, 80);
    cache.put("b", 2, 80);
    QCOMPARE(cache.size(), size_t{2});
    cache.begin();
    cache.put("c", 3, 10);
    QCOMPARE(cache.bytes(), int64_t{90});
    QCOMPARE(cache.size(), size_t{2});
  }
};

QTEST_APPLESS_MAIN(BoundedCacheTest)
#include "bounded_cache_test.moc"
