// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/tir/equal.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "tests/engine/tir/example_funcs.h"

using namespace tw;
using namespace tw::tir;

class TirTextTest : public QObject {
  Q_OBJECT

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    TW_ASSERT(at != std::string::npos, from);
    return text.replace(at, from.size(), to);
  }
  static void bad(const std::string& text, const std::string& part) {
    const auto r = parse_func(text);
    QVERIFY2(!r, text.c_str());
    QCOMPARE(r.error().code, ErrorCode::parse_error);
    QVERIFY2(r.error().text().find(part) != std::string::npos, r.error().text().c_str());
  }

 private Q_SLOTS:
  void round_trip() {
    for (const auto& [name, text] : example_funcs()) {
      const auto f = parse_func(text);
      QVERIFY2(f.has_value(), f ? "" : f.error().text().c_str());
      QCOMPARE(print(*f), text);
      QVERIFY(structural_equal(*f, parse_func(print(*f)).value()));
      const auto valid = verify(*f);
      QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
    }
  }
  void lines_know_their_statements() {
    const Func f = parse_func(kScopes).value();
    const Printed p = print_with_lines(f);
    const auto lines = split_lines(p.text);
    QVERIFY(p.line_stmt.size() == lines.size() || p.line_stmt.size() + 1 == lines.size());
    QCOMPARE(p.line_stmt.size(), p.line_origin.size());
    for (size_t i = 0; i < p.line_stmt.size(); ++i) {
      const std::string_view l = trim(lines[i]);
      const StmtNode* s = p.line_stmt[i];
      if (i < 3)
        QVERIFY(!s);
      else if (l.starts_with("for"))
        QCOMPARE(s->kind(), StmtKind::for_);
      else if (l.starts_with("if") || l.starts_with("else"))
        QCOMPARE(s->kind(), StmtKind::if_);
      else if (l.starts_with("with T.alloc"))
        QCOMPARE(s->kind(), StmtKind::alloc);
      else if (l.starts_with("with T.Let"))
        QCOMPARE(s->kind(), StmtKind::let);
      else if (l.starts_with("with T.async"))
        QCOMPARE(s->kind(), StmtKind::async);
      else if (l == "pass")
        QCOMPARE(s->kind(), StmtKind::seq);
      else
        QCOMPARE(s->kind(), StmtKind::store);
    }
  }
  void origins_follow_the_lines() {
    const Buffer c = ir::make_buffer("C", kFloat32, {4});
    const Var i = ir::make_var("i");
    const Stmt s = store(c, {ir::to_expr(i)}, ir::fimm(kFloat32, 1), {.stage = 2, .loop = -1});
    const Func f{"f", {c}, 1, make_for(i, ir::index(0), ir::index(4), ForKind::serial, s, {.stage = 2, .loop = 7})};
    const Printed p = print_with_lines(f);
    QCOMPARE(p.line_origin.size(), size_t{5});
    QVERIFY((p.line_origin[3] == Origin{2, 7}));
    QVERIFY((p.line_origin[4] == Origin{2, -1}));
    QVERIFY((p.line_origin[0] == Origin{}));
  }
  void odd_names() {
    const Buffer a = ir::make_buffer("for", kFloat32, {4}), b = ir::make_buffer("for", kFloat32, {4});
    const Var i = ir::make_var("not/ok");
    const Stmt s = store(b, {ir::to_expr(i)}, ir::load(a, {ir::to_expr(i)}));
    const Func f{"fused \"conv\" + relu", {a, b}, 1, make_for(i, ir::index(0), ir::index(4), ForKind::serial, s)};
    const auto back = parse_func(print(f));
    QVERIFY2(back.has_value(), back ? "" : (print(f) + back.error().text()).c_str());
    QCOMPARE(back->name, f.name);
    QVERIFY(structural_equal(f, *back));
    QCOMPARE(print(*back), print(f));
  }
  void symbolic_loop_bounds() {
    const std::string text = replaced(kScopes, "T.serial(2, 10)", "T.serial(s[()], s[()] + 3)");
    const Func f = parse_func(text).value();
    QCOMPARE(print(f), text);
  }
  void equality_sees_differences() {
    const Func f = parse_func(kMatmul).value();
    const auto differs = [&](const char* from, const char* to) { return !structural_equal(f, parse_func(replaced(kMatmul, from, to)).value()); };
    QVERIFY(differs("T.parallel(8)", "T.serial(8)"));
    QVERIFY(differs("T.serial(16)", "T.serial(15)"));
    QVERIFY(differs("scope=\"local\"", "scope=\"global\""));
    QVERIFY(differs("A[i, k]", "A[k, i]"));
    QVERIFY(differs("T.float32(0)", "T.float32(-0)"));
    QVERIFY(differs("(8, 16), \"float32\"", "(16, 8), \"float32\""));
    QVERIFY(differs("\"num_outputs\": 1", "\"num_outputs\": 2"));
    QVERIFY(!differs("def matmul", "def other"));
    QVERIFY(structural_equal(f, parse_func(replaced(replaced(kMatmul, "for k in", "for kk in"), "A[i, k] * B[k,", "A[i, kk] * B[kk,")).value()));
  }
  void comments_and_blank_lines_are_allowed() {
    QVERIFY(structural_equal(parse_func("# a comment\n\n" + replaced(kMatmul, "T.parallel(8):", "T.parallel(8):   # outer\n\n  # more")).value(),
                             parse_func(kMatmul).value()));
  }
  void bad_texts() {
    bad(replaced(kProduct, "T.wait_copies(1)", "T.wait_copies(-1)"), "Expected a number from 0 to 64, found -1");
    bad(replaced(kProduct, "\"depth\"", "\"column\""), "Expected \"row\" or \"depth\", found 'column'");
    bad(replaced(kProduct, "T.warp_mma(s[0, 0, 0]", "T.warp_mma(0"), "Expected an array element");
    bad(replaced(kProduct, "shape=(16, 16, 16)", "shape=(16, 16)"), "Expected three extents of at most 1024");
    bad(replaced(kProduct, "                pass\n", ""), "Expected an indented block");
    bad(replaced(kThreads, "\"blockIdx.x\"", "\"blockIdx.w\""), "Expected \"blockIdx.x\"");
    bad(replaced(kThreads, ", thread=\"blockIdx.x\"", ""), "Expected ','");
    bad("", "Expected '@T.prim_func'");
    bad(replaced(kMatmul, "@T.prim_func", "@T.func"), "Expected 'T.prim_func', found 'T.func' (at line 1");
    bad(replaced(kMatmul, "def", "fed"), "Expected 'def'");
    bad(replaced(kMatmul, "B: T.Buffer", "A: T.Buffer"), "Expected a new name, found 'A' again");
    bad(replaced(kMatmul, "\"float32\"", "\"float33\""), "type name");
    bad(replaced(kMatmul, "(8, 16)", "(8, -16)"), "Expected a shape of");
    bad(replaced(kMatmul, "(8, 16)", "(4294967296, 4294967296, 4294967296)"), "Expected a shape of");
    bad(replaced(kMatmul, "\"num_outputs\": 1", "\"num_outputs\": 4"), "Expected at most 3 outputs");
    bad(replaced(kMatmul, "\"num_outputs\": 1", "\"outputs\": 1"), "found 'outputs'");
    bad(replaced(kMatmul, "\"num_outputs\": 1", "\"global_symbol\": \"x\""), "Expected the attribute 'num_outputs'");
    bad(replaced(kMatmul, "T.parallel(8)", "T.vthread(8)"), "Expected 'T.serial', 'T.parallel'");
    bad(replaced(kMatmul, "T.parallel(8)", "T.parallel(True)"), "Expected type int64, found bool");
    bad(replaced(kMatmul, "for j.o", "for i"), "Expected a new name, found 'i' again");
    bad(replaced(kMatmul, "scope=\"local\"", "scope=\"param\""), "Expected the scope");
    bad(replaced(kMatmul, "acc[j.i] = T.float32(0)", "acc[j.i] = 0"), "Expected a value of type float32, found int64");
    bad(replaced(kMatmul, "acc[j.i] = T.float32(0)", "acc[j.i] == T.float32(0)"), "Expected an array element to store to");
    bad(replaced(kMatmul, "acc[j.i] = T.float32(0)", "acc[j.i] = T.float32(0) 7"), "Expected the end of the line");
    bad(replaced(kMatmul, "acc[j.i] = T.float32(0)", "pass pass"), "Expected the end of the line");
    bad(replaced(kMatmul, "acc[j.i_1] = acc", "ack[j.i_1] = acc"), "Unknown buffer 'ack' (at line 11");
    bad(replaced(kMatmul, "            for k", "             for k"), "Expected an indent of 12 spaces, found 13 (at line 9");
    bad(replaced(kMatmul, "            for k", "           for k"), "Expected an indent of 8 spaces, found 11 (at line 9");
    bad(replaced(kScopes, "                C[i_1] = t[i_1]\n", ""), "Expected an indented block");
    bad(replaced(kScopes, "if t[i_1] < T.int32(8) and i_1 < s[()]", "if s[()]"), "Expected type bool, found int64");
    bad(replaced(kFlatVector, "x: T.float32x16", "x: T.float32x8"), "Expected type float32x8, found float32x16");
    bad(replaced(kFlatVector, "C[T.ramp(base, 1, 16)]", "C[T.ramp(base, 1, 8)]"), "Expected a value of type float32x8, found float32x16");
    bad(kMatmul + "    pass\n  pass\n", "Expected the end of the function");
    bad(kMatmul.substr(0, kMatmul.find("    for i")), "Expected a statement (at line 4");
    bad(replaced(kFlatVector, "        C[T.ramp(base, 1, 16)] = max(x, T.broadcast(T.float32(0), 16)) + T.broadcast(A[base], 16)\n", ""),
        "Expected a statement after");
  }
  void deep_texts_are_errors() {
    std::string loops = "@T.prim_func\ndef f(A: T.Buffer((1,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n", lets = loops;
    for (int n = 0; n < 3000; ++n) {
      loops += std::string(static_cast<size_t>(4 + n), ' ') + "for i" + std::to_string(n) + " in T.serial(1):\n";
      lets += "    x" + std::to_string(n) + ": T.int64 = 1\n";
    }
    bad(loops + std::string(3100, ' ') + "pass\n", "levels of statements");
    bad(lets + "    pass\n", "levels of statements");
  }
  void damaged_texts_never_assert() {
    Rng rng(11);
    static constexpr char kBytes[] = "()[],.+-*/%<>=!@{}: Tiofx\"019\\\n";
    for (const auto& [name, text] : example_funcs())
      for (int n = 0; n < 600; ++n) {
        std::string t = text;
        for (uint64_t k = 0; k <= rng.uniform(4); ++k) {
          const size_t at = rng.uniform(t.size());
          if (rng.uniform(2))
            t[at] = kBytes[rng.uniform(sizeof kBytes - 1)];
          else
            t.erase(at, 1 + rng.uniform(20));
        }
        if (const auto r = parse_func(t))
          QVERIFY(structural_equal(*r, parse_func(print(*r)).value()));
        else
          QCOMPARE(r.error().code, ErrorCode::parse_error);
      }
  }
};

QTEST_APPLESS_MAIN(TirTextTest)
#include "parse_test.moc"
