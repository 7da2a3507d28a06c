// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/ir/equal.h"
#include "engine/ir/lexer.h"
#include "engine/ir/parse.h"
#include "engine/ir/print.h"
#include "engine/ir/type_rules.h"
#include "tests/engine/ir/random_expr.h"

using namespace tw;
using namespace tw::ir;

class PrintTest : public QObject {
  Q_OBJECT

  Var i_ = make_var("i"), j_ = make_var("j.o");
  Buffer a_ = make_buffer("A", kFloat32, {4, 8}), s_ = make_buffer("s", kInt32, {});
  Expr i() const { return to_expr(i_); }
  Expr j() const { return to_expr(j_); }
  Symbols symbols() const {
    Symbols s;
    s.vars = {{"i", i_}, {"j.o", j_}};
    s.buffers = {{"A", a_}, {"s", s_}};
    return s;
  }
  void same(const Expr& e, const char* text) const {
    QCOMPARE(print(e), std::string(text));
    const auto back = parse_expr(text, symbols());
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QVERIFY2(structural_equal(e, *back), print(*back).c_str());
    QCOMPARE(structural_hash(e), structural_hash(*back));
  }
  void bad(const std::string& text, const char* part) const {
    const auto r = parse_expr(text, symbols());
    QVERIFY2(!r, text.substr(0, 80).c_str());
    QCOMPARE(r.error().code, ErrorCode::parse_error);
    QVERIFY2(r.error().text().find(part) != std::string::npos, r.error().text().c_str());
  }

 private Q_SLOTS:
  void arithmetic() {
    same(i() * 2 + j(), "i * 2 + j.o");
    same((i() + j()) * i(), "(i + j.o) * i");
    same(i() - (j() - 1), "i - (j.o - 1)");
    same(i() - j() - 1, "i - j.o - 1");
    same(i() * floor_div(j(), i()), "i * (j.o // i)");
    same(floor_mod(i() + -5, index(-3)), "(i + -5) % -3");
    same(min(i(), max(j(), index(0))), "min(i, max(j.o, 0))");
    same(binary(BinaryOp::shl, i() + 1, binary(BinaryOp::bit_and, i(), j())), "i + 1 << (i & j.o)");
  }
  void logic() {
    same(logical_not(i() < j() && j() <= i()) || equal(i(), j()), "not (i < j.o and j.o <= i) or i == j.o");
    same(logical_not(i() < j()), "not i < j.o");
    same(equal(i() < j(), j() < i()), "(i < j.o) == (j.o < i)");
    same(equal(logical_not(i() < j()), bool_imm(true)), "(not i < j.o) == True");
    same(logical_not(logical_not(i() < j())), "not not i < j.o");
    same((i() < j() || j() < i()) && i() < j(), "(i < j.o or j.o < i) and i < j.o");
  }
  void constants() {
    same(fimm(kFloat32, 0.1), "T.float32(0.1)");
    same(fimm(kFloat64, -0.0), "T.float64(-0)");
    same(lowest(kFloat16), "T.float16(-inf)");
    same(fimm(kFloat32, std::nan("")), "T.float32(nan)");
    same(fimm(kFloat64, 4.9406564584124654e-324), "T.float64(5e-324)");
    same(imm(kInt8, -128), "T.int8(-128)");
    same(highest(kUInt64), "T.uint64(18446744073709551615)");
    same(lowest(kInt64), "-9223372036854775808");
    same(bool_imm(false), "False");
  }
  void structure() {
    same(load(a_, {i(), j() + 1}), "A[i, j.o + 1]");
    same(load(s_, {}), "s[()]");
    same(select(i() < j(), load(a_, {i(), j()}), fimm(kFloat32, 0)), "select(i < j.o, A[i, j.o], T.float32(0))");
    same(load(a_, {ramp(i(), index(1), 16)}), "A[T.ramp(i, 1, 16)]");
    same(broadcast(load(a_, {i(), j()}), 4) * load(a_, {ramp(i(), index(2), 4)}), "T.broadcast(A[i, j.o], 4) * A[T.ramp(i, 2, 4)]");
    same(cast(kFloat32, i()), "T.cast(float32, i)");
    same(cast(kInt32.with_lanes(4), ramp(i(), j(), 4)), "T.cast(int32x4, T.ramp(i, j.o, 4))");
    same(call(Intrinsic::pow, {load(a_, {i(), i()}), fimm(kFloat32, 2)}), "pow(A[i, i], T.float32(2))");
  }
  void names_are_unique_identifiers() {
    Names names;
    const Var a = make_var("x"), b = make_var("x"), c = make_var("x_1"), d = make_var("not"), e = make_var("/conv 1"), f = make_var("3"), g = make_var("");
    QCOMPARE(names.of(a.get()), std::string("x"));
    QCOMPARE(names.of(b.get()), std::string("x_1"));
    QCOMPARE(names.of(c.get()), std::string("x_1_1"));
    QCOMPARE(names.of(a.get()), std::string("x"));
    for (const Var& v : {d, e, f, g}) QVERIFY2(is_identifier(names.of(v.get())), names.of(v.get()).c_str());
    names.reserve("y");
    const Var y = make_var("y");
    QCOMPARE(names.of(y.get()), std::string("y_1"));
  }
  void bad_texts_are_errors() {
    bad("", "Expected an expression, found the end");
    bad("i +", "column 4");
    bad("k + 1", "Unknown variable 'k'");
    bad("B[i]", "Unknown buffer 'B'");
    bad("i + T.float32(1)", "Expected operands of one type for '+', found int64 and float32");
    bad("A[i]+A[i,i,i]", "Expected 2 indices for 'A'");
    bad("A[A[i, i], i]", "Expected an int64 index");
    bad("select(i, i, i)", "Expected bool as condition");
    bad("select(i < 1, i, s[()])", "Expected branches of one type");
    bad("True + False", "Expected numbers as operands of '+'");
    bad("i and i", "Expected bool as operands of 'and'");
    bad("A[i, i] & A[i, i]", "Expected integers or bool");
    bad("exp(i)", "Expected a float as argument of 'exp'");
    bad("exp()", "Expected 1 arguments for 'exp', found 0");
    bad("sqrt(A[i, i]", "Expected ')'");
    bad("T.int8(128)", "Expected a constant in the range of int8");
    bad("T.uint64(-1)", "Expected an unsigned integer");
    bad("99999999999999999999", "Expected an integer of 64 bits");
    bad("T.float32(1e999)", "range of float64");
    bad("T.ramp(i, 1, 1)", "Expected 2 to 1024 lanes");
    bad("T.ramp(i, 1, 99999999999)", "Expected 2 to 1024 lanes");
    bad("T.broadcast(i, i)", "constant number of lanes");
    bad("T.broadcast(i, 2) + T.broadcast(i, 3)", "Expected operands of one type");
    bad("T.cast(int33, i)", "type name");
    bad("foo(i)", "Unknown function 'foo'");
    bad("i < j.o < i", "parentheses around a comparison");
    bad("i i", "Expected the end of the expression, found 'i'");
    bad("not", "Expected an expression");
    bad("i \x01", "found '\\x01'");
    bad("\"abc", "closing quote");
  }
  void deep_texts_are_errors() {
    bad(std::string(100000, '('), "levels of nesting");
    std::string nots, sum = "i";
    for (int n = 0; n < 100000; ++n) {
      nots += "not ";
      sum += "+i";
    }
    bad(nots, "levels of nesting");
    bad(sum, "levels");
  }
  void folding_cannot_overflow() {
    const auto value = [&](const char* text) { return as_int(*parse_expr(text, symbols())); };
    QCOMPARE(value("9223372036854775807 + 1"), std::optional(INT64_MIN));
    QCOMPARE(value("-9223372036854775808 // -1"), std::optional(INT64_MIN));
    QCOMPARE(value("-9223372036854775808 / -1"), std::optional(INT64_MIN));
    QCOMPARE(value("-9223372036854775808 % -1"), std::optional(int64_t{0}));
    QVERIFY(parse_expr("1 // 0", symbols()).has_value());
  }
  void random_expressions_round_trip() {
    Rng rng(20261121);
    const Buffer ints = make_buffer("ids", kInt64, {16});
    Symbols s = symbols();
    s.buffers.emplace("ids", ints);
    RandomExpr random(rng, {i_, j_}, {a_, s_, ints});
    for (int n = 0; n < 3000; ++n) {
      const Expr e = random.make(random.any_type(), 1 + n % 6);
      QVERIFY2(check_types(e).has_value(), print(e).c_str());
      const std::string text = print(e);
      const auto back = parse_expr(text, s);
      QVERIFY2(back.has_value(), (text + "\n" + (back ? "" : back.error().text())).c_str());
      QVERIFY2(structural_equal(e, *back), (text + "\n" + print(*back)).c_str());
      QCOMPARE(print(*back), text);
    }
  }
  void damaged_texts_never_assert() {
    Rng rng(7);
    RandomExpr random(rng, {i_, j_}, {a_, s_});
    static constexpr char kBytes[] = "()[],.+-*/%<>=!&|^ TiAs\"019e\\";
    int accepted = 0;
    for (int n = 0; n < 3000; ++n) {
      std::string text = print(random.make(random.any_type(), 4));
      for (int k = 0; k < 3; ++k) {
        const size_t at = rng.uniform(text.size());
        if (rng.uniform(2))
          text[at] = kBytes[rng.uniform(sizeof kBytes - 1)];
        else
          text.erase(at, 1 + rng.uniform(4));
        if (text.empty()) text = "i";
      }
      const auto r = parse_expr(text, symbols());
      if (r) {
        QVERIFY(check_types(*r).has_value());
        ++accepted;
      } else {
        QCOMPARE(r.error().code, ErrorCode::parse_error);
      }
    }
    QVERIFY(accepted > 0 && accepted < 3000);
  }
};

QTEST_APPLESS_MAIN(PrintTest)
#include "print_test.moc"
