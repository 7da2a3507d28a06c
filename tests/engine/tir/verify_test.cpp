// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/tir/parse.h"
#include "engine/tir/verify.h"
#include "tests/engine/tir/example_funcs.h"

using namespace tw;
using namespace tw::tir;
using ir::index;
using ir::to_expr;

class TirVerifyTest : public QObject {
  Q_OBJECT

  Buffer a_ = ir::make_buffer("A", kFloat32, {4, 8}), c_ = ir::make_buffer("C", kFloat32, {32});
  Var i_ = ir::make_var("i"), j_ = ir::make_var("j");
  Expr one_ = ir::fimm(kFloat32, 1);

  Func func(Stmt body) const { return {"f", {a_, c_}, 1, std::move(body)}; }
  static Stmt loop(const Var& v, int64_t n, Stmt body, int64_t min = 0) { return make_for(v, index(min), index(n), ForKind::serial, std::move(body)); }
  void good(Stmt body) const {
    const auto r = verify(func(std::move(body)));
    QVERIFY2(r.has_value(), r ? "" : r.error().text().c_str());
  }
  void bad(Stmt body, const char* expected) const {
    const auto r = verify(func(std::move(body)));
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::internal);
    QVERIFY2(r.error().text().find(expected) == 0, r.error().text().c_str());
  }

 private Q_SLOTS:
  void scopes() {
    const Stmt s = store(c_, {to_expr(i_)}, one_);
    good(loop(i_, 32, s));
    bad(s, "Expected variable 'i' to be bound here (at statement 'C[i] = T.float32(1)')");
    bad(seq({loop(i_, 32, s), s}), "Expected variable 'i' to be bound here");
    bad(seq({loop(i_, 32, s), loop(i_, 32, s)}), "Expected every variable to be bound once, found 'i' again");
    bad(loop(i_, 32, loop(i_, 2, s)), "Expected every variable to be bound once");
    const Buffer t = ir::make_buffer("t", kFloat32, {2}, ir::Scope::local);
    const Stmt use = store(t, {index(0)}, one_);
    good(alloc(t, use));
    bad(use, "Expected array 't' to be in scope");
    bad(seq({alloc(t, use), use}), "Expected array 't' to be in scope");
    bad(alloc(t, alloc(t, use)), "Expected every array to be bound once, found 't' again");
    const Buffer p = ir::make_buffer("p", kFloat32, {2}, ir::Scope::param);
    bad(alloc(p, nop()), "Expected an allocation in scope local");
    QVERIFY(!verify(Func{"f", {a_, a_}, 1, nop()}));
    QVERIFY(!verify(Func{"f", {a_}, 2, nop()}));
    QVERIFY(verify(Func{"f", {a_}, 2, nop()}, VerifyLevel::off).has_value());
  }
  void stores_go_to_outputs() { bad(store(a_, {index(0), index(0)}, one_), "Expected a store to a local array or an output, found one to input 'A'"); }
  void shapes() {
    good(store(c_, {index(0)}, ir::load(a_, {index(31)})));
    const Buffer cube = ir::make_buffer("cube", kFloat32, {2, 2, 2}, ir::Scope::local);
    bad(alloc(cube, store(cube, {index(0), index(0)}, one_)), "Expected 3 indices for 'cube' of shape [2, 2, 2], found 2");
    bad(Stmt(new IfNode(ir::load(a_, {index(0)}), nop(), std::nullopt, {})), "Expected a bool as condition, found float32");
    bad(Stmt(new StoreNode(c_, {index(0)}, ir::fimm(kFloat64, 1), {})), "Expected a value of type float32, found float64");
    bad(Stmt(new StoreNode(c_, {ir::ramp(index(0), index(1), 4)}, one_, {})), "Expected a value of type float32x4, found float32");
    bad(Stmt(new ForNode(ir::make_var("k", kInt32), index(0), index(1), ForKind::serial, nop(), {}, -1)), "Expected an int64 loop");
  }
  void bound_loops() {
    const Stmt s = store(c_, {to_expr(i_)}, one_);
    const auto bound = [](const Var& v, int64_t n, ForKind k, Stmt body, int64_t min = 0) { return make_for(v, index(min), index(n), k, std::move(body)); };
    good(bound(j_, 2, ForKind::block_x, bound(i_, 32, ForKind::thread_x, s)));
    good(bound(j_, 2, ForKind::vthread, bound(i_, 32, ForKind::vthread, s)));
    bad(bound(j_, 2, ForKind::thread_x, bound(i_, 32, ForKind::thread_x, s)), "Expected threadIdx.x to be bound once");
    bad(bound(j_, 2, ForKind::thread_x, bound(i_, 32, ForKind::block_x, s)), "Expected loops bound to blocks outside");
    const Buffer shared = ir::make_buffer("s", kFloat32, {4}, ir::Scope::shared);
    good(bound(j_, 2, ForKind::block_x, alloc(shared, bound(i_, 32, ForKind::thread_x, seq({s, make_sync()})))));
    bad(make_sync(), "Expected a barrier inside a loop bound to blocks or threads");
    bad(bound(i_, 32, ForKind::thread_x, alloc(shared, s)), "Expected the shared array 's' directly inside the loops bound to blocks");
    bad(alloc(shared, bound(i_, 32, ForKind::block_x, alloc(ir::make_buffer("g", kFloat32, {4}, ir::Scope::global), s))), "Expected a local or shared array");
    bad(bound(j_, 2, ForKind::block_x, seq({make_sync(), bound(i_, 32, ForKind::thread_x, s)})),
        "Expected loops bound to blocks and threads directly inside each other");
    bad(bound(j_, 2, ForKind::block_x, alloc(shared, bound(i_, 32, ForKind::block_y, s))), "Expected shared arrays inside all loops bound to blocks");
    bad(bound(i_, 32, ForKind::thread_x, all_reduce(c_, {to_expr(i_)}, ir::BinaryOp::add, ForKind::thread_x)),
        "Expected a local array to combine over threads, found 'C'");
    bad(bound(i_, 31, ForKind::block_z, s, 1), "Expected a constant extent and the minimum 0 of a loop bound to blockIdx.z");
  }
  /// Each line of the example with a product by a warp, damaged.
  void copies_and_products() {
    const auto damaged = [](const std::string& from, const std::string& to) {
      std::string text = kProduct;
      text.replace(text.find(from), from.size(), to);
      const auto r = verify(parse_func(text).value());
      return r ? std::string() : r.error().text();
    };
    for (const auto& [from, to, expected] :
         {std::tuple{"                pass", "                T.wait_copies(0)", "Expected no wait inside a group of copies"},
          {"                pass", "                T.tvm_storage_sync(\"shared\")", "Expected no barrier inside a group of copies"},
          {"                pass", "                with T.async_copies():\n                    pass", "Expected a group of copies outside of others"},
          {"shape=(16, 16, 16)", "shape=(16, 16, 8)", "Expected a product by a warp of multiples of 16 x 16 x 16, found 16 x 16 x 8"},
          {"shape=(16, 16, 16)", "shape=(32, 16, 16)", "Expected a local array with 1 / 32 of 32 x 16 sums, found 's'"},
          {"T.warp_mma(s[0, 0, 0]", "T.warp_mma(C[0, 0]", "Expected a local array"},
          {"24, \"row\", t[0, 0]", "24, \"row\", A[0, 0]", "Expected shared arrays for a product by a warp, found 'A'"},
          {"t[0, 0], 24, \"row\"", "s[0, 0, 0], 24, \"row\"", "Expected operands of one type of 16 bits"}})
      QVERIFY2(damaged(from, to).find(expected) == 0, damaged(from, to).c_str());
    bad(make_wait(0), "Expected a wait for copies inside a loop bound to blocks or threads");
    bad(make_async(nop()), "Expected copies beside other work inside a loop bound to blocks or threads");
  }
  void bounds() {
    const Expr i = to_expr(i_), j = to_expr(j_);
    const auto put = [&](Expr at) { return store(c_, {std::move(at)}, one_); };
    good(loop(i_, 4, loop(j_, 8, put(i * 8 + j))));
    bad(loop(i_, 4, loop(j_, 9, put(i * 8 + j))), "Expected indices in [0, 32) in dimension 0 of 'C', found 0 to 32");
    bad(loop(i_, 4, put(i - 1)), "Expected indices in [0, 32) in dimension 0 of 'C', found -1 to 2");
    bad(loop(i_, 4, put(i), 30), "Expected indices in [0, 32) in dimension 0 of 'C', found 30 to 33");
    bad(put(ir::ramp(index(20), index(4), 4)), "Expected indices in [0, 32) in dimension 0 of 'C', found 20 to 32");
    good(put(ir::ramp(index(31), index(-1), 32)));
    bad(loop(i_, 4, store(c_, {i}, ir::load(a_, {i + 1, index(0)}))), "Expected indices in [0, 4) in dimension 0 of 'A', found 1 to 4");
    good(loop(i_, 4, store(c_, {i}, ir::select(i < index(3), ir::load(a_, {i + 1, index(0)}), one_))));
    good(loop(i_, 99, if_then(i < index(32), put(i))));
    good(loop(i_, 0, put(i + 99)));
    good(make_for(i_, index(0), ir::cast(kInt64, ir::load(a_, {index(0)})), ForKind::serial, put(i + 99)));
    QVERIFY(verify(func(put(index(99))), VerifyLevel::shape).has_value());
  }
};

QTEST_APPLESS_MAIN(TirVerifyTest)
#include "verify_test.moc"
