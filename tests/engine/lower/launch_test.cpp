// SPDX-License-Identifier: Apache-2.0
// Schedules for blocks and threads: what the interpreter computes in every order of threads, with no race, is what the expressions say.
#include <QtTest>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/base/text.h"
#include "engine/lower/lower.h"
#include "engine/te/dag.h"
#include "engine/tir/interp.h"
#include "engine/tir/parse.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"
#include "engine/tir/visit.h"
#include "tests/engine/lower/gpu_schedules.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;

namespace {

const tir::ThreadOrder kThreadOrders[] = {{tir::ThreadOrder::Kind::forward, 0}, {tir::ThreadOrder::Kind::reverse, 0}, {tir::ThreadOrder::Kind::shuffled, 7}};

/// Every pass but one.
tir::Func passes_without(tir::Func f, const std::string& name) {
  for (const tir::Pass& p : tir::passes())
    if (tir::applies(p, f) && p.name != name) f = p.run(f, Target());
  return f;
}

Expected<std::vector<HostArray>> run_threads(const schedule::Schedule& s, const tir::Func& f, const std::vector<HostArray>& inputs, tir::ThreadOrder order) {
  return testing::run_scheduled(s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(f, args, {}, order); });
}

int count(const tir::Func& f, tir::StmtKind kind) {
  int n = 0;
  tir::walk(f.body, [&](const tir::Stmt& s) { n += s->kind() == kind; });
  return n;
}

bool multiplies_float32(const tir::Func& f) {
  bool found = false;
  tir::walk(f.body, [&](const tir::Stmt& s) {
    const auto* n = tir::as<tir::MmaNode>(s);
    found = found || (n && n->a.first->dtype == kFloat32);
  });
  return found;
}

}  // namespace

class LaunchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keeps_results_data() {
    QTest::addColumn<int>("which");
    int k = 0;
    for (const auto& g : testing::gpu_schedules()) QTest::newRow(g.name.c_str()) << k++;
  }
  void keeps_results() {
    QFETCH(int, which);
    const schedule::Schedule s = testing::gpu_schedules()[static_cast<size_t>(which)].schedule;
    Rng rng(static_cast<uint64_t>(which) + 1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    tir::PassHooks hooks;
    hooks.verify = true;
    const auto f = lower::lower_and_optimize(s, "f", Target(), hooks);
    QVERIFY2(f, f ? "" : f.error().text().c_str());
    // Tensor cores multiply what is left of float32.
    std::vector<HostArray> multiplied = inputs;
    if (multiplies_float32(*f))
      for (HostArray& a : multiplied)
        for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(tir::tf32(static_cast<float>(a.get(i)))));
    const auto want = te::interpret(*s.dag(), multiplied);
    QVERIFY(want.has_value());
    for (const tir::ThreadOrder order : kThreadOrders) {
      const auto got = run_threads(s, *f, inputs, order);
      QVERIFY2(got, got ? "" : (got.error().text() + "\n" + tir::print(*f)).c_str());
      const double d = testing::largest_difference(*got, *want);
      QVERIFY2(d < 1e-4, qPrintable(QString::fromStdString(fmt::format("differs by {}\n{}", d, tir::print(*f)))));
    }
  }

  /// The same without each pass that may be left out.
  void keeps_results_without_any_pass_data() { keeps_results_data(); }
  void keeps_results_without_any_pass() {
    QFETCH(int, which);
    const schedule::Schedule s = testing::gpu_schedules()[static_cast<size_t>(which)].schedule;
    Rng rng(static_cast<uint64_t>(which) + 1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    const tir::Func all = lower::lower_and_optimize(s, "f", Target()).value();
    const auto want = run_threads(s, all, inputs, kThreadOrders[2]);
    for (const tir::Pass& p : tir::passes()) {
      if (*p.needed) continue;
      tir::PassHooks hooks;
      hooks.verify = true;
      hooks.disabled = {p.name};
      const auto f = lower::lower_and_optimize(s, "f", Target(), hooks);
      QVERIFY2(f, f ? "" : f.error().text().c_str());
      const auto got = run_threads(s, *f, inputs, kThreadOrders[2]);
      QVERIFY2(got, got ? "" : (std::string(p.name) + ": " + got.error().text()).c_str());
      QVERIFY2(testing::largest_difference(*got, *want) < 1e-4, p.name);
    }
  }

  /// The check can fail: without barriers every schedule that shares memory between threads has a race, which names both accesses.
  void finds_missing_barriers_data() { keeps_results_data(); }
  void finds_missing_barriers() {
    QFETCH(int, which);
    const schedule::Schedule s = testing::gpu_schedules()[static_cast<size_t>(which)].schedule;
    Rng rng(1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    const tir::Func lowered = lower::lower(s, "f").value();
    const tir::Func with = tir::run_passes(lowered, Target()).value(), without = passes_without(lowered, "insert_barriers");
    QCOMPARE(count(without, tir::StmtKind::sync), 0);
    if (count(with, tir::StmtKind::sync) == 0) {
      QVERIFY(run_threads(s, without, inputs, {}).has_value());
      return;
    }
    for (const tir::ThreadOrder order : kThreadOrders) {
      const auto got = run_threads(s, without, inputs, order);
      QVERIFY(!got);
      const std::string text = got.error().text();
      QVERIFY2(got.error().code == ErrorCode::wrong_result, text.c_str());
      const bool race = text.find("Expected threads to touch elements of their own between two barriers") == 0 &&
                        text.find("first touched in") != std::string::npos && text.find("of stage") != std::string::npos;
      const bool unwritten = text.find("to be written before it is read") != std::string::npos;
      QVERIFY2(race || unwritten, text.c_str());
    }
  }

  /// Barriers stand only where they are needed: each one taken out alone gives a race in some order of threads.
  void needs_every_barrier_data() { keeps_results_data(); }
  void needs_every_barrier() {
    QFETCH(int, which);
    const schedule::Schedule s = testing::gpu_schedules()[static_cast<size_t>(which)].schedule;
    Rng rng(1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    const tir::Func f = lower::lower_and_optimize(s, "f", Target()).value();
    for (int k = 0; k < count(f, tir::StmtKind::sync); ++k) {
      int seen = 0;
      const std::function<tir::Stmt(const tir::Stmt&)> drop = [&](const tir::Stmt& x) -> tir::Stmt {
        if (x->kind() == tir::StmtKind::sync) return seen++ == k ? tir::nop() : x;
        return tir::map_children(x, drop, [](const ir::Expr& e) { return e; });
      };
      tir::Func g = f;
      g.body = drop(f.body);
      const bool races =
          std::any_of(std::begin(kThreadOrders), std::end(kThreadOrders), [&](const tir::ThreadOrder order) { return !run_threads(s, g, inputs, order); });
      QVERIFY2(races, qPrintable(QString::fromStdString(fmt::format("barrier {} is not needed\n{}", k, tir::print(f)))));
    }
  }

  /// A wait for one group too few, or none, and a group that is begun before the barrier are found.
  void finds_short_waits_data() { keeps_results_data(); }
  void finds_short_waits() {
    QFETCH(int, which);
    const schedule::Schedule s = testing::gpu_schedules()[static_cast<size_t>(which)].schedule;
    const tir::Func f = lower::lower_and_optimize(s, "f", Target()).value();
    QCOMPARE(count(f, tir::StmtKind::wait) > 0, count(f, tir::StmtKind::async) > 0);
    if (count(f, tir::StmtKind::wait) == 0) return;
    Rng rng(1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    const auto error_of = [&](const std::function<tir::Stmt(const tir::WaitNode&)>& instead, tir::ThreadOrder order) {
      const std::function<tir::Stmt(const tir::Stmt&)> change = [&](const tir::Stmt& x) -> tir::Stmt {
        if (const auto* w = tir::as<tir::WaitNode>(x)) return instead(*w);
        return tir::map_children(x, change, [](const ir::Expr& e) { return e; });
      };
      tir::Func g = f;
      g.body = change(f.body);
      const auto got = run_threads(s, g, inputs, order);
      return got ? std::string() : got.error().text();
    };
    for (const tir::ThreadOrder order : kThreadOrders) {
      QCOMPARE(error_of([](const tir::WaitNode& w) { return tir::make_wait(w.pending); }, order), std::string());
      for (const std::string& text : {error_of([](const tir::WaitNode& w) { return tir::make_wait(w.pending + 1); }, order),
                                      error_of([](const tir::WaitNode&) { return tir::nop(); }, order)})
        QVERIFY2(text.find("to be written before it is read") != std::string::npos, text.c_str());
    }
  }

  /// Threads that name different tiles, and warps that are not whole, are no product.
  void products_are_of_whole_warps() {
    const auto error_of = [](const std::string& first, int threads) {
      const tir::Func f =
          tir::parse_func(
              fmt::format(
                  "@T.prim_func\ndef f(A: T.Buffer((256,), \"float16\"), C: T.Buffer((32, 8), \"float32\")):\n    T.func_attr({{\"num_outputs\": 1}})\n"
                  "    for b in T.thread_binding(1, thread=\"blockIdx.x\"):\n        X = T.alloc_buffer((768,), \"float16\", scope=\"shared\")\n"
                  "        for t in T.thread_binding({}, thread=\"threadIdx.x\"):\n            acc = T.alloc_buffer((8,), \"float32\", scope=\"local\")\n"
                  "            for i in T.serial(8):\n                acc[i] = T.float32(0)\n            for i_1 in T.serial(24):\n"
                  "                X[i_1 * 32 + t] = A[i_1 % 8 * 32 + t]\n            T.tvm_storage_sync(\"shared\")\n"
                  "            T.warp_mma(acc[0], X[{}], 16, \"row\", X[256], 16, \"row\", shape=(16, 16, 16))\n            for i_2 in T.serial(8):\n"
                  "                C[t, i_2] = acc[i_2]\n",
                  threads, first))
              .value();
      std::vector<HostArray> args{HostArray::make(kFloat16, {256}), HostArray::make(kFloat32, {32, 8})};
      const auto done = tir::interpret(f, args);
      return done ? std::string() : done.error().text();
    };
    QCOMPARE(error_of("0", 32), std::string());
    QVERIFY2(error_of("t % 2 * 16", 32).find("Expected the threads of a warp to multiply the same tiles") == 0, error_of("t % 2 * 16", 32).c_str());
    QVERIFY2(error_of("20", 32).find("Expected tiles that begin at multiples of 8 elements, found 20 and 256") == 0, error_of("20", 32).c_str());
    QVERIFY2(error_of("600", 32).find("Expected a tile inside 'X'") == 0, error_of("600", 32).c_str());
    QVERIFY2(error_of("0", 16).find("Expected 32 threads along threadIdx.x") == 0, error_of("0", 16).c_str());
  }

  /// The bits of cvt.rna.tf32: to nearest, ties away from zero; what a target does not allow is refused when a schedule meets it.
  void tf32() {
    for (const auto& [from, to] : {std::pair{1.0f, 1.0f},
                                   {1.0f + 0x1.0p-11f, 1.0f + 0x1.0p-10f},
                                   {-1.0f - 0x1.0p-11f, -1.0f - 0x1.0p-10f},
                                   {1.0f + 0x1.0p-12f, 1.0f},
                                   {1.0f + 3 * 0x1.0p-11f, 1.0f + 2 * 0x1.0p-10f},
                                   {0x1.fffp-3f, 0x1.0p-2f},
                                   {0x1.8p-136f, 0x1.0p-135f}})
      QCOMPARE(tir::tf32(from), to);
    QCOMPARE(tir::tf32(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
    QVERIFY(std::isnan(tir::tf32(std::numeric_limits<float>::quiet_NaN())));
    const schedule::Schedule s = testing::warp_matmul({.n = 64, .k = 64, .vector = 4, .gap = 4, .dtype = kFloat32}).finish().value();
    QVERIFY(lower::lower_and_optimize(s, "f", parse_target("cuda:a100,tf32").value()).has_value());
    const auto refused = lower::lower_and_optimize(s, "f", parse_target("cuda:a100").value());
    QVERIFY(!refused && refused.error().message.find("Expected a target with '+tf32'") == 0);
  }

  void refused_products() {
    const auto refused = [](testing::WarpMatmulKnobs q, const char* part) {
      auto b = testing::warp_matmul(q).finish();
      const std::string text = b ? (lower::lower(*b, "f") ? "" : lower::lower(*b, "f").error().text()) : b.error().text();
      if (text.find(part) != std::string::npos) return true;
      qWarning("%s", text.c_str());
      return false;
    };
    for (const testing::WarpMatmulKnobs& q :
         {testing::WarpMatmulKnobs{.dtype = kFloat64, .out = kFloat64}, {.dtype = kInt8, .out = kInt8}, {.dtype = kFloat16, .other = kBFloat16}})
      QVERIFY(refused(q, "Expected a sum of products of two arrays of float16, of bfloat16 or of float32, or of int8 or uint8 in int32 for 'tensorize'"));
    QVERIFY(refused({.gap = 4}, "Expected operands whose lines begin at multiples of 16 bytes for 'tensorize'"));
    QVERIFY(refused({.m = 60}, "Expected tiles without surplus for 'tensorize'"));
    QVERIFY(refused({.rows = 24, .tall = 1}, "Expected multiples of 16 rows and 16 columns for 'tensorize'"));
    QVERIFY(refused({.columns_first = true}, "Expected a reader 'Y' whose threadIdx.x is the lane that holds the element for 'tensorize'"));
  }

  void barriers_in_a_tiled_matmul() {
    const auto barriers = [](const testing::MatmulKnobs& q) {
      return count(lower::lower_and_optimize(testing::tiled_matmul(q).finish().value(), "f", Target()).value(), tir::StmtKind::sync);
    };
    QCOMPARE(barriers({}), 2);                        // before the tiles are filled and before they are read
    QCOMPARE(barriers({.double_buffer = true}), 1);   // an iteration fills what nobody reads in it
    QCOMPARE(barriers({.k = 64, .pipeline = 3}), 1);  // after the wait
    QCOMPARE(barriers({.pipeline = 3}), 1);           // also where there are as many tiles as iterations
  }

  void launch_order() {
    const tir::Func f = lower::lower_and_optimize(testing::direct_conv2d({.co = 12, .w = 11}).finish().value(), "f", Target()).value();
    std::vector<std::string> loops;
    const std::function<void(const tir::Stmt&)> down = [&](const tir::Stmt& s) {
      if (const auto* n = tir::as<tir::ForNode>(s); n && tir::is_bound(n->for_kind)) {
        loops.push_back(tir::thread_name(n->for_kind));
        down(n->body);
      } else if (const auto* a = tir::as<tir::AllocNode>(s)) {
        loops.push_back(ir::scope_name(a->buffer->scope));
        if (a->buffer->scope == ir::Scope::shared) down(a->body);
      }
    };
    down(f.body);
    QCOMPARE(loops,
             (std::vector<std::string>{"blockIdx.z", "blockIdx.y", "blockIdx.x", "shared", "shared", "threadIdx.z", "threadIdx.y", "threadIdx.x", "local"}));
  }

  /// One block of 256 threads multiplies 64x64 by 64x64.
  void checks_a_tile_in_time() {
    const schedule::Schedule s =
        testing::tiled_matmul({.m = 64, .n = 64, .k = 64, .vy = 2, .ty = 16, .iy = 2, .vx = 2, .tx = 16, .ix = 2, .ko = 8}).finish().value();
    Rng rng(1);
    const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
    const tir::Func f = lower::lower_and_optimize(s, "f", Target()).value();
    const auto begin = std::chrono::steady_clock::now();
    const auto got = run_threads(s, f, inputs, {});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    QVERIFY2(got, got ? "" : got.error().text().c_str());
    QVERIFY(testing::largest_difference(*got, *te::interpret(*s.dag(), inputs)) < 1e-4);
    qInfo("%.3f s", seconds);
  }

  /// Random sizes and factors of the tiled kernels; most factors divide nothing.
  void random_tiles() {
    for (int seed = 0; seed < 120; ++seed) {
      Rng rng(static_cast<uint64_t>(seed) * 6151 + 5);
      const auto in = [&](int64_t lo, int64_t hi) { return rng.range(lo, hi); };
      Builder b = testing::tiled_matmul({});
      switch (seed % 4) {
        case 0:
          b = testing::tiled_matmul({.m = in(1, 20),
                                     .n = in(1, 20),
                                     .k = in(1, 16),
                                     .vy = in(1, 2),
                                     .ty = in(1, 4),
                                     .iy = in(1, 3),
                                     .vx = in(1, 3),
                                     .tx = in(1, 4),
                                     .ix = in(1, 2),
                                     .ko = in(1, 6),
                                     .vector = in(1, 3),
                                     .double_buffer = in(0, 1) != 0,
                                     .registers = in(0, 1) != 0,
                                     .align = in(1, 5)});
          break;
        case 1: {
          const int64_t kernel = in(1, 3);
          b = testing::direct_conv2d({.ci = in(1, 5),
                                      .co = in(1, 6),
                                      .h = in(kernel, 8),
                                      .w = in(kernel, 8),
                                      .kernel = kernel,
                                      .stride = in(1, 2),
                                      .pad = in(0, 1),
                                      .vf = in(1, 2),
                                      .tf = in(1, 2),
                                      .fi = in(1, 2),
                                      .vy = in(1, 2),
                                      .ty = in(1, 3),
                                      .yi = in(1, 2),
                                      .vx = in(1, 2),
                                      .tx = in(1, 3),
                                      .xi = in(1, 2),
                                      .rc = in(1, 3),
                                      .ry = in(1, 2),
                                      .rx = in(1, 3)});
          break;
        }
        case 2:
          b = in(0, 1) != 0 ? testing::stencil(in(1, 12), in(1, 12), in(1, 4), in(1, 5)) : testing::transpose(in(1, 20), in(1, 20), 8, 4);
          break;
        default:
          b = in(0, 1) != 0 ? testing::softmax(in(1, 3), in(1, 20), in(1, 7)) : testing::dense_by_threads(in(1, 3), in(1, 3), in(1, 20), in(1, 7));
      }
      const schedule::Schedule s = std::move(b).finish().value();
      const auto context = [&](const std::string& text) {
        return QString::fromStdString(fmt::format("seed {}: {}\n{}", seed, text, schedule::print_steps(s)));
      };
      const std::vector<HostArray> inputs = testing::random_inputs(*s.dag(), rng);
      tir::PassHooks hooks;
      hooks.verify = true;
      const auto f = lower::lower_and_optimize(s, "f", Target(), hooks);
      QVERIFY2(f, qPrintable(context(f ? "" : f.error().text())));
      for (const tir::ThreadOrder order : kThreadOrders) {
        const auto got = run_threads(s, *f, inputs, order);
        QVERIFY2(got, qPrintable(context(got ? "" : got.error().text() + "\n" + tir::print(*f))));
        QVERIFY2(testing::largest_difference(*got, *te::interpret(*s.dag(), inputs)) < 1e-4, qPrintable(context(tir::print(*f))));
      }
    }
  }

  void refusals() {
    // Threads cannot fill what each has for itself.
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("X", {8, 8}, kFloat32);
    const te::Tensor y = d.compute("Y", {8, 8}, [&](const te::Indices& i) { return x(i[1], i[0]); });
    schedule::Builder b(std::move(d).finish({y}));
    const int cache = b.cache_read(0, {1}, "local");
    b.bind(2, b.loops(2)[0], schedule::Annotation::block_x);
    b.bind(2, b.loops(2)[1], schedule::Annotation::thread_x);
    b.compute_at(cache, 2, b.loops(2)[0]);
    b.bind(cache, b.loops(cache)[0], schedule::Annotation::thread_x);
    const auto f = lower::lower(std::move(b).finish().value(), "f");
    QVERIFY(!f);
    QCOMPARE(f.error().message,
             std::string("Expected 'X_local' in scope shared, for its loop 'c0' is bound to threadIdx.x, found an array that every thread has for itself"));
    // A reduction by threads leaves one result at a time.
    Builder inside = testing::row_reduction(4, 8, 1, 4, te::Reducer::sum);
    const auto l = inside.loops(1);
    inside.reorder(1, {l[2], l[0], l[1], l[3]});
    QVERIFY(lower::lower(std::move(inside).finish().value(), "f").has_value() == false);
  }

  /// A sum in half precision is one in float32, and so is what a conversion to float32 makes of it.
  void sums_of_halves_are_converted_without_a_load_in_between() {
    const te::DagPtr dag = te::parse_dag("p: float16[16, 8] = placeholder(activation)\ns: float16[16] = sum(i, k=8)\n    p[i, k]\n"
                                         "c: float32[16] = compute(i)\n    T.cast(float32, s[i])\noutputs(c)\n")
                               .value();
    Builder b(dag);
    b.split(2, b.loops(2)[0], {4});
    b.bind(2, b.loops(2)[0], schedule::Annotation::block_x);
    b.bind(2, b.loops(2)[1], schedule::Annotation::thread_x);
    b.compute_at(1, 2, b.loops(2)[1]);
    const schedule::Schedule s = std::move(b).finish().value();
    const auto f = lower::lower(s, "f");
    QVERIFY2(f, f ? "" : f.error().text().c_str());
    QVERIFY2(tir::verify(*f), tir::print(*f).c_str());
    HostArray p = HostArray::make(kFloat16, {16, 8});
    for (int64_t i = 0; i < 128; ++i) p.set(i, static_cast<double>(i % 7));
    const std::vector<HostArray> inputs{p};
    const auto got = run_threads(s, *f, inputs, kThreadOrders[0]);
    QVERIFY2(got, got ? "" : got.error().text().c_str());
    QCOMPARE(testing::largest_difference(*got, te::interpret(*dag, inputs).value()), 0.0);
  }

  /// Where nothing runs in threads, what a block would share lies in the thread's own memory, or beside the arguments if it is large.
  void nothing_is_shared_without_threads() {
    for (const int64_t n : {int64_t{64}, int64_t{16384}}) {
      const te::DagPtr dag = te::parse_dag(fmt::format("x: float32[{}] = placeholder(activation)\ny: float32[{}] = compute(i)\n    x[i] * x[{} - i]\noutputs(y)\n", n, n, n - 1)).value();
      Builder b(dag);
      const int cache = b.cache_read(0, {1}, "shared");
      const int y = cache + 1;
      b.split(y, b.loops(y)[0], {n / 2});
      b.compute_at(cache, y, b.loops(y)[0]);
      const schedule::Schedule s = std::move(b).finish().value();
      const auto f = lower::lower(s, "f");
      QVERIFY2(f, f ? "" : f.error().text().c_str());
      QVERIFY2(tir::verify(*f), tir::print(*f).c_str());
      Rng rng(3);
      const std::vector<HostArray> inputs = testing::random_inputs(*dag, rng);
      const auto got = run_threads(s, *f, inputs, kThreadOrders[0]);
      QVERIFY2(got, got ? "" : got.error().text().c_str());
      QVERIFY(testing::largest_difference(*got, te::interpret(*dag, inputs).value()) < 1e-6);
    }
  }

 private:
  using Builder = schedule::Builder;
};

QTEST_APPLESS_MAIN(LaunchTest)
#include "launch_test.moc"
