// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/networks.h"

#include <QtTest>
#include <algorithm>
#include <cmath>

using namespace tw::learner;

class NetworksTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// As the papers' code counts them.
  void theirParametersAreCounted() {
    QCOMPARE(mlp().parameters(), size_t{242433});
    QCOMPARE(pam().parameters(), size_t{417409});
    QCOMPARE(felix().parameters(), size_t{237313});
    QCOMPARE(felix().elements() - felix().parameters(), 2 * kFelixRowColumns);
    QCOMPARE(mlp().elements() - mlp().parameters(), 2 * kStatementColumns);
    QCOMPARE(pam().elements() - pam().parameters(), 2 * (kStatementColumns + kPatternColumns) + 2 * kHidden);
    QCOMPARE(find_network("pam"), &pam());
    QCOMPARE(find_network("felix"), &felix());
    QVERIFY(find_network("oracle") == nullptr);
  }
  void tensorsFollowEachOther() {
    size_t at = 0;
    for (const TensorSpec& t : pam().tensors) {
      QCOMPARE(pam().offset(t.name), at);
      QCOMPARE(pam().tensor(t.name).elements(), t.elements());
      at += t.elements();
    }
    QCOMPARE(at, pam().elements());
  }
  /// Uniform within the bound of each tensor, the same for the same seed.
  void theyBeginAtRandom() {
    const std::vector<float> one = pam().initial(1);
    QCOMPARE(one, pam().initial(1));
    QVERIFY(one != pam().initial(2));
    for (const TensorSpec& t : pam().tensors) {
      const auto begin = one.begin() + static_cast<std::ptrdiff_t>(pam().offset(t.name)), end = begin + static_cast<std::ptrdiff_t>(t.elements());
      const auto [least, most] = std::minmax_element(begin, end);
      if (t.bound == 0) {
        QVERIFY(*least == t.value && *most == t.value);
      } else {
        QVERIFY(*most <= t.bound && *least >= -t.bound);
        if (t.elements() > 100) QVERIFY2(*most > 0.9 * t.bound && *least < -0.9 * t.bound, t.name);
      }
    }
    // A layer that sums up 256 numbers begins within a sixteenth.
    QCOMPARE(pam().tensor("l0.weight").bound, 1.0 / 16);
  }
};

QTEST_APPLESS_MAIN(NetworksTest)
#include "networks_test.moc"
