// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/frontends/torch/symbols.h"

using namespace tw;
using namespace tw::frontends;

class SymbolsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<double>("value");
    QTest::newRow("symbol") << "Symbol('s0', positive=True, integer=True)" << 7.0;
    QTest::newRow("number") << "-3" << -3.0;
    QTest::newRow("sum") << "Add(Symbol('s0', integer=True), Mul(Integer(-2), Symbol('s1')))" << 1.0;
    QTest::newRow("floor division") << "FloorDiv(Add(Symbol('s0'), Integer(-8)), Integer(2))" << -1.0;
    QTest::newRow("remainder") << "PythonMod(Integer(-7), Symbol('s1'))" << 2.0;
    QTest::newRow("qualified") << "torch.utils._sympy.functions.Max(Integer(1), Symbol('s1'))" << 3.0;
    QTest::newRow("indexing") << "ModularIndexing(Integer(29), Integer(4), Symbol('s1'))" << 1.0;
  }
  void values() {
    QFETCH(QString, text);
    QFETCH(double, value);
    const auto v = evaluate_size(text.toStdString(), {{"s0", 7}, {"s1", 3}});
    QVERIFY2(v, v ? "" : v.error().text().c_str());
    QCOMPARE(*v, value);
  }

  void refused() {
    QCOMPARE(evaluate_size("Symbol('s2')", {{"s0", 1}}).error().code, ErrorCode::not_found);
    QCOMPARE(evaluate_size("Gamma(Integer(2))", {}).error().code, ErrorCode::unsupported);
    for (const char* bad : {"", "Add(", "Symbol('s0'", "Symbol(s0)", "Integer(2) 3", "Integer(x)", "Add()"})
      QVERIFY2(!evaluate_size(bad, {{"s0", 1}}), bad);
    std::string deep;
    for (int i = 0; i < 10000; ++i) deep += "floor(";
    QCOMPARE(evaluate_size(deep, {}).error().code, ErrorCode::resource_limit);
  }

  void values_for_sizes() {
    QCOMPARE(symbol_for("Symbol('s0')", "s0", 12), std::optional<int64_t>(12));
    QCOMPARE(symbol_for("Add(Mul(Integer(4), Symbol('s0')), Integer(2))", "s0", 14), std::optional<int64_t>(3));
    QCOMPARE(symbol_for("Mul(Integer(4), Symbol('s0'))", "s0", 14), std::nullopt);
    QCOMPARE(symbol_for("Integer(4)", "s0", 4), std::nullopt);
    QCOMPARE(symbol_for("Mul(Integer(4), Symbol('s0'))", "s0", 0), std::optional<int64_t>(0));
    QCOMPARE(symbol_for("Mul(Integer(4), Symbol('s0'))", "s0", -4), std::nullopt);
    QCOMPARE(least_size(2), int64_t{1});
    QCOMPARE(least_size(5), int64_t{5});
  }

  void the_one_symbol() {
    QCOMPARE(only_symbol("Mul(Integer(2), Symbol('s0', integer=True))"), std::optional<std::string>("s0"));
    QCOMPARE(only_symbol("Add(Symbol('s0'), Symbol('s0'))"), std::optional<std::string>("s0"));
    QCOMPARE(only_symbol("Add(Symbol('s0'), Symbol('s1'))"), std::nullopt);
    QCOMPARE(only_symbol("Integer(3)"), std::nullopt);
  }
};

QTEST_APPLESS_MAIN(SymbolsTest)
#include "symbols_test.moc"
