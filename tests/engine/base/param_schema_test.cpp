// SPDX-License-Identifier: Apache-2.0
#include "engine/base/param_schema.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;

class ParamSchemaTest : public QObject {
  Q_OBJECT

  static ParamSchema schema() {
    return {number_param("size", Param::Kind::integer, 100, "candidates", 1, 10000), number_param("chance", Param::Kind::real, 0.1, "of a change", -1, 1),
            number_param("free", Param::Kind::real, 2.5, "any number", 0, 0),        flag_param("keep", true, "the best"),
            choice_param("order", "up", "of points", {"up", "down"}),                text_param("note", "a", "whatever"),
            duration_param("limit", 10.0, "seconds; 0: none")};
  }
  static QString refusal(const char* name, const Json& value) {
    const auto r = resolve_params(schema(), {{name, value}});
    return r ? QStringLiteral("taken") : QString::fromStdString(r.error().text());
  }
  static bool taken(const char* name, const Json& value) {
    const auto r = resolve_params(schema(), {{name, value}});
    return r && (*r)[name] == value && r->size() == schema().size();
  }

 private Q_SLOTS:
  void what_is_not_given_is_the_default() {
    const Json all = {{"size", 100}, {"chance", 0.1}, {"free", 2.5}, {"keep", true}, {"order", "up"}, {"note", "a"}, {"limit", 10.0}};
    QCOMPARE(resolve_params(schema(), Json()).value(), all);
    QCOMPARE(resolve_params(schema(), Json::object()).value(), all);
    Json one = all;
    one["order"] = "down";
    QCOMPARE(resolve_params(schema(), {{"order", "down"}}).value(), one);
  }

  void both_ends_of_a_range_are_inside() {
    QVERIFY(taken("size", 1) && taken("size", 10000) && taken("chance", -1) && taken("chance", 1) && taken("chance", 0.5));
    for (const int size : {0, 10001}) QCOMPARE(refusal("size", size), QStringLiteral("Expected parameter 'size' between 1 and 10000, found %1").arg(size));
    QVERIFY(refusal("chance", -1.001).startsWith("Expected parameter 'chance' between -1 and 1"));
    QVERIFY(taken("free", -1e300) && taken("free", 1e300));
  }

  /// Any time that has not gone by: no time at all and parts of a second too.
  void times() {
    QVERIFY(taken("limit", 0) && taken("limit", 0.001) && taken("limit", 0.999) && taken("limit", 1e9));
    QCOMPARE(refusal("limit", -0.001), QStringLiteral("Expected seconds of 0 or more for parameter 'limit', found -0.001"));
    QVERIFY(refusal("limit", "10s").startsWith("Expected seconds of 0 or more"));
  }

  void kinds() {
    QVERIFY(taken("keep", false) && taken("note", "") && taken("chance", 0));
    QCOMPARE(refusal("size", 1.5), QStringLiteral("Expected an integer for parameter 'size', found 1.5"));
    QCOMPARE(refusal("chance", "much"), QStringLiteral("Expected a number for parameter 'chance', found \"much\""));
    QCOMPARE(refusal("keep", 1), QStringLiteral("Expected true or false for parameter 'keep', found 1"));
    QCOMPARE(refusal("note", false), QStringLiteral("Expected a text for parameter 'note', found false"));
    QCOMPARE(refusal("order", 3), QStringLiteral("Expected one of its choices for parameter 'order', found 3"));
    QCOMPARE(refusal("order", "left"), QStringLiteral("Expected one of up, down for parameter 'order', found \"left\""));
    QCOMPARE(refusal("colour", 3), QStringLiteral("Expected a known parameter name, found 'colour'"));
    QVERIFY(QString::fromStdString(resolve_params(schema(), Json::array({1})).error().text()).startsWith("Expected an object of parameters, found [1]"));
  }
};

QTEST_APPLESS_MAIN(ParamSchemaTest)
#include "param_schema_test.moc"
