// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/space/knobs/other.h"

#include <QtTest>

using namespace tw;
using namespace tw::space;

class OtherTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void values_are_verbatim_and_in_order() {
    const auto values = enumerate_other({512, true, "x", nullptr, 0.5});
    QCOMPARE(values.size(), size_t{5});
    QCOMPARE(values[0].other, Json(512));
    QCOMPARE(values[3].other, Json(nullptr));
  }
  void equality_is_pythons() {
    QVERIFY(same_other(true, 1));
    QVERIFY(same_other(0, false));
    QVERIFY(same_other(1.0, 1));
    QVERIFY(!same_other(true, 2));
    QVERIFY(!same_other("1", 1));
    QVERIFY(!same_other(nullptr, 0));
  }
  void text_is_pythons() {
    QCOMPARE(python_text(true), std::string("True"));
    QCOMPARE(python_text(nullptr), std::string("None"));
    QCOMPARE(python_text("a"), std::string("a"));
    QCOMPARE(python_text(Json::array({1, "a"})), std::string("[1, 'a']"));
  }
};

QTEST_APPLESS_MAIN(OtherTest)
#include "other_test.moc"
