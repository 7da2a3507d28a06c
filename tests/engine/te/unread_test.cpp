// SPDX-License-Identifier: Apache-2.0
#include "engine/te/unread.h"

#include <QtTest>


using namespace tw;
using namespace tw::te;

class UnreadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Two of nine rows of four, and the two places.
  void rowsThatTablesName() {
    DagBuilder b;
    const Tensor rows = b.placeholder("rows", {9, 4}, kFloat32), places = b.placeholder("places", {2}, kInt64);
    const DagPtr dag = std::move(b).finish({b.compute("named", {2, 4}, [&](const Indices& i) { return rows(places(i[0]), i[1]); })});
    QCOMPARE(unread_bytes(*dag), int64_t{4 * (9 - 2) * 4});
    QCOMPARE(io_bytes(*dag), int64_t{4 * 2 * 4 + 2 * 8 + 4 * 2 * 4});
  }
  /// More than there are, and all of them elsewhere.
  void rowsThatAreReadAnyway() {
    const auto unread = [](int64_t count, bool all) {
      DagBuilder b;
      const Tensor rows = b.placeholder("rows", {9, 4}, kFloat32), places = b.placeholder("places", {count}, kInt64);
      std::vector<Tensor> results{b.compute("named", {count, 4}, [&](const Indices& i) { return rows(places(i[0]), i[1]); })};
      if (all) results.push_back(b.compute("other", {9, 4}, [&](const Indices& i) { return rows(i[0], i[1]) + rows(i[0], i[1]); }));
      return unread_bytes(*std::move(b).finish(results));
    };
    QCOMPARE(unread(3, false), int64_t{6 * 4 * 4});
    QCOMPARE(unread(20, false), int64_t{0});
    QCOMPARE(unread(3, true), int64_t{0});
  }
};

QTEST_APPLESS_MAIN(UnreadTest)
#include "unread_test.moc"
