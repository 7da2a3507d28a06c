// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "tests/engine/codegen/kernel_runner.h"

using namespace tw;
using namespace tw::codegen::testing;
using ir::Expr;
using tir::ForKind;

namespace {

HostArray counting(DType t, int64_t n) {
  HostArray a = HostArray::make(t, {n});
  for (int64_t i = 0; i < n; ++i) a.set(i, static_cast<double>(i % 251));
  return a;
}

Target two_cores() {
  Target t = host_target();
  t.cores = 2;
  return t;
}

Expr at(const ir::Var& v) { return ir::to_expr(v); }
Expr lanes_at(const Expr& first, int lanes = 16) { return ir::ramp(first, ir::index(1), lanes); }

void expect_ok(const Expected<void>& done) { QVERIFY2(done, done ? "" : done.error().text().c_str()); }

}  // namespace

class StmtTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Both levels, bounds that depend on an outer loop, and empty loops.
  void triangular_loops() {
    const int64_t n = 20;
    const auto C = ir::make_buffer("C", kInt32, {n, n});
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    const tir::Stmt body = tir::make_for(
        i, ir::index(0), ir::index(n), ForKind::serial,
        tir::make_for(j, at(i), ir::index(10) - at(i), ForKind::serial, tir::store(C, {at(i), at(j)}, ir::cast(kInt32, at(i) * int64_t{100} + at(j)))));
    for (const auto opt : {codegen::OptLevel::tuning, codegen::OptLevel::full}) {
      std::vector<HostArray> args = {HostArray::make(kInt32, {n, n})};
      expect_ok(run({"kernel", {C}, 1, body}, args, host_target(), opt));
      for (int64_t a = 0; a < n; ++a)
        for (int64_t b = 0; b < n; ++b) QCOMPARE(args[0].get_int(a * n + b), b >= a && b < 10 ? a * 100 + b : 0);
    }
  }

  /// Loops of kinds that passes should have removed still mean what they say.
  void leftover_kinds() {
    const auto A = ir::make_buffer("A", kFloat32, {4, 8}), C = ir::make_buffer("C", kFloat32, {4, 8});
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
    const tir::Stmt body = tir::make_for(
        i, ir::index(0), ir::index(4), ForKind::unrolled,
        tir::make_for(j, ir::index(0), ir::index(8), ForKind::vectorized, tir::store(C, {at(i), at(j)}, ir::load(A, {at(i), at(j)}) + ir::fimm(kFloat32, 1))));
    std::vector<HostArray> args = {counting(kFloat32, 32), HostArray::make(kFloat32, {4, 8})};
    expect_ok(run({"kernel", {A, C}, 1, body}, args, host_target()));
    for (int64_t k = 0; k < 32; ++k) QCOMPARE(args[1].get(k), static_cast<double>(k + 1));
  }

  /// Ramps with strides 0, 1, -1, 2, 7 and index vectors that are no ramp, for loads and stores, of every element size.
  void strides() {
    const int64_t n = 256;
    for (const DType t : {kInt8, kFloat16, kBFloat16, kFloat32, kFloat64, kBool}) {
      for (const int lanes : {4, 16}) {
        for (const int64_t stride : {0, 1, -1, 2, 7}) {
          const auto A = ir::make_buffer("A", t, {n}), C = ir::make_buffer("C", t, {n}), D = ir::make_buffer("D", t, {n});
          const int64_t base = stride < 0 ? lanes - 1 : 3;
          const Expr v = ir::ramp(ir::index(base), ir::index(stride), lanes);
          const tir::Stmt body =
              tir::seq({tir::store(C, {lanes_at(ir::index(0), lanes)}, ir::load(A, {v})), tir::store(D, {v}, ir::load(A, {lanes_at(ir::index(16), lanes)}))});
          std::vector<HostArray> args = {counting(t, n), HostArray::make(t, {n}), HostArray::make(t, {n})};
          if (t.is_bool())
            for (int64_t k = 0; k < n; ++k) args[0].set(k, k % 3 == 0);
          expect_ok(run({"kernel", {A, C, D}, 2, body}, args, host_target()));
          for (int64_t k = 0; k < lanes; ++k) QCOMPARE(args[1].get(k), args[0].get(base + k * stride));
          if (stride == 0)
            QCOMPARE(args[2].get(base), args[0].get(16 + lanes - 1));
          else
            for (int64_t k = 0; k < lanes; ++k) QCOMPARE(args[2].get(base + k * stride), args[0].get(16 + k));
        }
        const auto A = ir::make_buffer("A", t, {n}), I = ir::make_buffer("I", kInt64, {n}), C = ir::make_buffer("C", t, {n});
        const Expr where = ir::load(I, {lanes_at(ir::index(0), lanes)});
        std::vector<HostArray> args = {counting(t, n), HostArray::make(kInt64, {n}), HostArray::make(t, {n})};
        for (int64_t k = 0; k < n; ++k) args[1].set_int(k, (k * 37 + 5) % n);
        expect_ok(run({"kernel", {A, I, C}, 1, tir::store(C, {where}, ir::load(A, {where}))}, args, host_target()));
        for (int64_t k = 0; k < lanes; ++k) QCOMPARE(args[2].get((k * 37 + 5) % n), args[0].get((k * 37 + 5) % n));
      }
    }
  }

  /// Rows of two-dimensional buffers as vectors: a ramp in the last index, a broadcast in the first.
  void vectors_in_two_dimensions() {
    const auto A = ir::make_buffer("A", kFloat32, {8, 32}), C = ir::make_buffer("C", kFloat32, {32, 8});
    const ir::Var i = ir::make_var("i");
    const tir::Stmt body =
        tir::make_for(i, ir::index(0), ir::index(8), ForKind::serial,
                      tir::store(C, {lanes_at(ir::index(16)), ir::broadcast(at(i), 16)}, ir::load(A, {ir::broadcast(at(i), 16), lanes_at(ir::index(4))})));
    std::vector<HostArray> args = {counting(kFloat32, 256), HostArray::make(kFloat32, {32, 8})};
    expect_ok(run({"kernel", {A, C}, 1, body}, args, host_target()));
    for (int64_t r = 0; r < 8; ++r)
      for (int64_t k = 0; k < 16; ++k) QCOMPARE(args[1].get((16 + k) * 8 + r), args[0].get(r * 32 + 4 + k));
  }

  void conditions_and_lets() {
    const auto C = ir::make_buffer("C", kInt64, {30});
    const ir::Var i = ir::make_var("i"), x = ir::make_var("x");
    const tir::Stmt yes = tir::store(C, {at(i)}, at(x)), no = tir::store(C, {at(i)}, ir::index(-1));
    const tir::Stmt body = tir::make_for(i, ir::index(0), ir::index(30), ForKind::serial,
                                         tir::let(x, at(i) * at(i),
                                                  tir::seq({tir::if_then(at(x) < ir::index(50), yes, no),
                                                            tir::if_then(ir::equal(at(i), ir::index(29)), tir::store(C, {ir::index(0)}, ir::index(77)))})));
    std::vector<HostArray> args = {HostArray::make(kInt64, {30})};
    expect_ok(run({"kernel", {C}, 1, body}, args, host_target()));
    for (int64_t k = 0; k < 30; ++k) QCOMPARE(args[0].get_int(k), k == 0 ? 77 : k * k < 50 ? k * k : -1);
  }

  /// A condition with lanes makes masked stores and loads; neither touches memory beyond the array.
  void masked_tail() {
    const int64_t n = 37;
    const auto A = ir::make_buffer("A", kFloat32, {n}), C = ir::make_buffer("C", kFloat32, {n});
    const ir::Var i = ir::make_var("i");
    const Expr v = lanes_at(at(i) * int64_t{16});
    const tir::Stmt copy = tir::store(C, {v}, ir::load(A, {v}) * ir::fimm(kFloat32.with_lanes(16), 2));
    const tir::Stmt last = tir::store(C, {ir::index(n - 1) - v}, ir::fimm(kFloat32.with_lanes(16), -9));
    const Expr tail = ir::index(31) < v;
    const tir::Stmt body =
        tir::make_for(i, ir::index(0), ir::index(3), ForKind::serial,
                      tir::if_then(v < ir::index(n), tir::seq({copy, tir::if_then(tail, last, tir::store(C, {v}, ir::load(C, {v}) + ir::fimm(kFloat32, 1)))})));
    std::vector<HostArray> args = {counting(kFloat32, n), HostArray::make(kFloat32, {n})};
    expect_ok(run({"kernel", {A, C}, 1, body}, args, host_target()));
    for (int64_t k = 0; k < n; ++k) QCOMPARE(args[1].get(k), k < 5 ? -9.0 : static_cast<double>(2 * k + (k <= 31)));
  }

  /// Vectors whose lanes fall into pieces: one element again and again, the same neighbours again, neighbours here and there; whole and under a mask.
  void vectors_in_pieces() {
    for (const int lanes : {8, 16})
      for (const int64_t length : {2, 4, lanes / 2})
        for (const int64_t limit : {lanes, lanes - 3}) {
          const auto A = ir::make_buffer("A", kFloat32, {200}), C = ir::make_buffer("C", kFloat32, {400});
          const Expr v = lanes_at(ir::index(0), lanes), by = ir::broadcast(ir::index(length), lanes);
          const Expr piece = ir::floor_div(v, by), within = ir::floor_mod(v, by);
          const auto times = [&](const Expr& e, int64_t n) { return e * ir::broadcast(ir::index(n), lanes); };
          const Expr sum = ir::load(A, {times(piece, 7)}) + ir::load(A, {within}) * ir::load(A, {times(piece, 20) + within});
          const tir::Stmt put = tir::store(C, {times(piece, 31) + within}, sum);
          std::vector<HostArray> args = {counting(kFloat32, 200), HostArray::make(kFloat32, {400})};
          expect_ok(run({"kernel", {A, C}, 1, limit == lanes ? put : tir::if_then(v < ir::index(limit), put)}, args, host_target()));
          std::vector<double> want(400, 0);
          for (int64_t k = 0; k < limit; ++k) {
            const int64_t p = k / length, w = k % length;
            want[static_cast<size_t>(p * 31 + w)] = static_cast<double>(p * 7 + w * (p * 20 + w));
          }
          for (int64_t k = 0; k < 400; ++k) QCOMPARE(args[1].get(k), want[static_cast<size_t>(k)]);
        }
  }

  /// Small local arrays live in the frame, large ones and workspace come from the runtime and go back in reverse order.
  void allocations() {
    for (const auto& [scope, size, from_runtime] :
         {std::tuple{ir::Scope::local, int64_t{64}, 0}, {ir::Scope::local, int64_t{40000}, 1}, {ir::Scope::global, int64_t{64}, 1}}) {
      const auto A = ir::make_buffer("A", kFloat32, {size}), C = ir::make_buffer("C", kFloat32, {size}), T = ir::make_buffer("T", kFloat32, {size}, scope);
      const ir::Var i = ir::make_var("i"), j = ir::make_var("j");
      const tir::Stmt fill =
          tir::make_for(i, ir::index(0), ir::index(size), ForKind::serial, tir::store(T, {at(i)}, ir::load(A, {at(i)}) * ir::fimm(kFloat32, 3)));
      const tir::Stmt drain =
          tir::make_for(j, ir::index(0), ir::index(size), ForKind::serial, tir::store(C, {at(j)}, ir::load(T, {ir::index(size - 1) - at(j)})));
      std::vector<HostArray> args = {counting(kFloat32, size), HostArray::make(kFloat32, {size})};
      SerialRuntime runtime;
      expect_ok(run({"kernel", {A, C}, 1, tir::alloc(T, tir::seq({fill, drain}))}, args, host_target(), codegen::OptLevel::tuning, &runtime));
      for (int64_t k = 0; k < size; ++k) QCOMPARE(args[1].get(k), args[0].get(size - 1 - k) * 3);
      QCOMPARE(runtime.allocated, from_runtime);
      QCOMPARE(runtime.freed, from_runtime);
    }
  }

  /// A parallel loop captures arrays, workspace, outer loop variables and lets; a parallel loop inside it is serial.
  void parallel_loops() {
    const int64_t n = 10, m = 13;
    const auto A = ir::make_buffer("A", kFloat32, {n, m}), C = ir::make_buffer("C", kFloat32, {n, m}),
               T = ir::make_buffer("T", kFloat32, {m}, ir::Scope::global), L = ir::make_buffer("L", kFloat32, {4}, ir::Scope::local);
    const ir::Var i = ir::make_var("i"), j = ir::make_var("j"), k = ir::make_var("k"), s = ir::make_var("s", kFloat32), b = ir::make_var("b", kBool);
    const tir::Stmt inner = tir::alloc(L, tir::seq({tir::store(L, {ir::index(1)}, ir::load(A, {at(i), at(j)}) * ir::to_expr(s)),
                                                    tir::store(T, {at(j)}, ir::select(ir::to_expr(b), ir::load(L, {ir::index(1)}), ir::fimm(kFloat32, -1)))}));
    const tir::Stmt drain = tir::make_for(k, ir::index(0), ir::index(m), ForKind::parallel, tir::store(C, {at(i), at(k)}, ir::load(T, {at(k)})));
    const tir::Stmt row =
        tir::let(s, ir::cast(kFloat32, at(i)),
                 tir::let(b, at(i) < ir::index(8), tir::seq({tir::make_for(j, ir::index(3), ir::index(m - 3), ForKind::parallel, inner), drain})));
    const tir::Stmt zero = tir::make_for(j, ir::index(0), ir::index(3), ForKind::serial, tir::store(T, {at(j)}, ir::fimm(kFloat32, 5)));
    const tir::Stmt serial_rows = tir::alloc(T, tir::seq({zero, tir::make_for(i, ir::index(0), ir::index(n), ForKind::serial, row)}));
    const tir::Stmt parallel_rows = tir::make_for(i, ir::index(0), ir::index(n), ForKind::parallel, tir::alloc(T, tir::seq({zero, row})));
    for (const bool outer : {false, true}) {
      for (const auto opt : {codegen::OptLevel::tuning, codegen::OptLevel::full}) {
        std::vector<HostArray> args = {counting(kFloat32, n * m), HostArray::make(kFloat32, {n, m})};
        SerialRuntime runtime;
        expect_ok(run({"kernel", {A, C}, 1, outer ? parallel_rows : serial_rows}, args, two_cores(), opt, &runtime));
        for (int64_t r = 0; r < n; ++r)
          for (int64_t c = 0; c < m; ++c) QCOMPARE(args[1].get(r * m + c), c < 3 ? 5.0 : r < 8 ? args[0].get(r * m + c) * static_cast<double>(r) : -1.0);
        QCOMPARE(runtime.parallel_loops, outer ? 1 : 2 * static_cast<int>(n));
        QCOMPARE(runtime.allocated, outer ? static_cast<int>(n) : 1);
        QCOMPARE(runtime.freed, runtime.allocated);
      }
    }
    Target one = host_target();
    one.cores = 1;
    std::vector<HostArray> args = {counting(kFloat32, n * m), HostArray::make(kFloat32, {n, m})};
    SerialRuntime runtime;
    expect_ok(run({"kernel", {A, C}, 1, parallel_rows}, args, one, codegen::OptLevel::tuning, &runtime));
    QCOMPARE(runtime.parallel_loops, 0);
  }

  /// Several functions in one object, and names that are refused.
  void several_functions() {
    const auto C = ir::make_buffer("C", kInt32, {1});
    std::vector<tir::Func> funcs;
    for (int k = 0; k < 3; ++k) funcs.push_back({"f" + std::to_string(k), {C}, 1, tir::store(C, {ir::index(0)}, ir::imm(kInt32, k + 40))});
    const auto object = codegen::build_object(funcs, host_target());
    QVERIFY(object);
    const auto module = codegen::load_object(*object);
    QVERIFY(module);
    for (int k = 0; k < 3; ++k) {
      const auto f = (*module)->find("f" + std::to_string(k));
      QVERIFY(f);
      int32_t value = 0;
      void* args[] = {&value};
      QCOMPARE((*f)(args, nullptr), 0);
      QCOMPARE(value, k + 40);
    }
    const auto missing = (*module)->find("g");
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, ErrorCode::not_found);
    funcs[1].name = "f0";
    QCOMPARE(codegen::build_object(funcs, host_target()).error().code, ErrorCode::invalid_argument);
    QVERIFY(codegen::build_object({}, host_target()).has_value());  // a network may have nothing to compute
  }

  void refusals() {
    const auto C = ir::make_buffer("C", kInt32, {1}), S = ir::make_buffer("S", kInt32, {1}, ir::Scope::shared), H = ir::make_buffer("H", kFloat16, {1});
    const tir::Stmt one = tir::store(C, {ir::index(0)}, ir::imm(kInt32, 1));
    QCOMPARE(codegen::build_object({{"f", {C}, 1, tir::alloc(S, one)}}, host_target()).error().code, ErrorCode::unsupported);
    QCOMPARE(codegen::build_object({{"f", {C}, 1, tir::seq(std::vector<tir::Stmt>(5000, one))}}, host_target()).error().code, ErrorCode::resource_limit);
    QCOMPARE(codegen::build_object({{"f", {C, H}, 2, one}}, *parse_target("x86-64-v2")).error().code, ErrorCode::unsupported);
    const auto bound = tir::make_for(ir::make_var("i"), ir::index(0), ir::index(2), tir::ForKind::thread_x, one);
    const auto refused = codegen::build_object({{"f", {C}, 1, bound}}, host_target());
    QCOMPARE(refused.error().code, ErrorCode::unsupported);
    QVERIFY(refused.error().text().find("found loop 'i' bound to threadIdx.x") != std::string::npos);
    Target unknown = host_target();
    unknown.cpu = "z80";
    QCOMPARE(codegen::build_object({{"f", {C}, 1, one}}, unknown).error().code, ErrorCode::unsupported);
    unknown.kind = "cuda";
    QCOMPARE(codegen::build_object({{"f", {C}, 1, one}}, unknown).error().code, ErrorCode::unsupported);
    QCOMPARE(codegen::load_object(std::vector<std::byte>(100)).error().code, ErrorCode::corrupt);
    auto object = *codegen::build_object({{"f", {C}, 1, one}}, host_target());
    object.resize(object.size() / 2);
    auto module = codegen::load_object(object);
    QVERIFY(!module || !(*module)->find("f"));
  }
};

QTEST_APPLESS_MAIN(StmtTest)
#include "llvm_stmt_test.moc"
