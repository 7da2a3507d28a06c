// SPDX-License-Identifier: Apache-2.0
#include "engine/records/record.h"

#include <QtTest>
#include <set>

using namespace tw;
using namespace tw::records;

class RecordTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void candidates_are_told_apart() {
    Candidate point{"a", 3, R"([["k","ot",1]])", {}}, other_space{"b", 3, "", {}}, other_index{"a", 4, "", {}};
    Candidate by_default{"default", -1, "", {schedule::SplitStep{1, 0, 4, {2}}}}, other_steps{"default", -1, "", {schedule::SplitStep{1, 0, 4, {4}}}};
    Candidate foreign{"ansor", -1, "[1]", {}}, other_config{"ansor", -1, "[2]", {}}, sketched{"sketch", -1, "", {}, 7}, other_sketch{"sketch", -1, "", {}, 8};
    std::set<uint64_t> all;
    for (const Candidate& c : {point, other_space, other_index, by_default, other_steps, foreign, other_config, sketched, other_sketch}) all.insert(identity(c));
    QCOMPARE(all.size(), size_t{9});
  }
  void what_is_the_same_is_one() {
    QCOMPARE(identity({"a", 3, "x", {}}), identity({"a", 3, "", {schedule::SplitStep{1, 0, 4, {2}}}}));
    QCOMPARE(identity({"sketch", -1, "", {}, 7}), identity({"sketch", -1, "", {schedule::SplitStep{1, 0, 4, {2}}}, 7}));
    QVERIFY((Candidate{"default", -1, "", {}}).is_default());
    QVERIFY(!(Candidate{"a", -1, "", {}}).is_default());
  }
};

QTEST_APPLESS_MAIN(RecordTest)
#include "record_test.moc"
