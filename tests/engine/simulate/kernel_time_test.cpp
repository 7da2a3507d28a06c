// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/kernel_time.h"

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/simulate/legality.h"
#include "engine/target/target.h"
#include "engine/tir/parse.h"
#include "tests/engine/lower/gpu_schedules.h"

using namespace tw;
using schedule::Annotation;
using schedule::Builder;

namespace {

constexpr int64_t kSize = 4096;

/// The matrix product of the kernels below, C = A * B, with a sum of its own for every thread.
Builder product() {
  te::DagBuilder d;
  const te::Tensor a = d.placeholder("A", {kSize, kSize}, kFloat32), b = d.placeholder("B", {kSize, kSize}, kFloat32);
  const te::Tensor c =
      d.reduce("C", {kSize, kSize}, {kSize}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return a(s[0], r[0]) * b(r[0], s[1]); });
  Builder s(std::move(d).finish({c}));
  s.cache_write(s.stage("C"), "local");
  return s;
}

/// One element a thread; `rows_first`: neighbouring threads compute neighbouring rows, whose elements lie far apart.
schedule::Schedule plain(bool rows_first) {
  Builder s = product();
  const int out = s.stage("C");
  const auto y = s.split(out, s.loops(out)[0], {32}), x = s.split(out, s.loops(out)[2], {32});
  s.reorder(out, {y[0], x[0], y[1], x[1]});
  s.bind(out, y[0], Annotation::block_y);
  s.bind(out, x[0], Annotation::block_x);
  s.bind(out, y[1], rows_first ? Annotation::thread_x : Annotation::thread_y);
  s.bind(out, x[1], rows_first ? Annotation::thread_y : Annotation::thread_x);
  s.compute_at(s.stage("C_local"), out, x[1]);
  return std::move(s).finish().value();
}

/// Tiles in shared memory: `ty` times `tx` threads compute `iy` times `ix` elements each, `depth` products at a time, fetched in vectors.
schedule::Schedule tiled(int64_t ty, int64_t iy, int64_t tx, int64_t ix, int64_t depth, int64_t vector = 1) {
  Builder s = product();
  for (const char* name : {"A", "B"}) s.cache_read(s.stage(name), {s.stage("C_local")}, "shared");
  for (const char* name : {"A_shared", "B_shared"}) s.cache_read(s.stage(name), {s.stage("C_local")}, "local");
  const int out = s.stage("C"), local = s.stage("C_local");
  const auto y = s.split(out, s.loops(out)[0], {ty, iy}), x = s.split(out, s.loops(out)[3], {tx, ix});
  s.reorder(out, {y[0], x[0], y[1], x[1], y[2], x[2]});
  s.bind(out, y[0], Annotation::block_y);
  s.bind(out, x[0], Annotation::block_x);
  s.bind(out, y[1], Annotation::thread_y);
  s.bind(out, x[1], Annotation::thread_x);
  s.compute_at(local, out, x[1]);
  const auto l = s.loops(local);
  const auto k = s.split(local, l[2], {depth});
  s.reorder(local, {k[0], k[1], l[0], l[1]});
  s.unroll(local, k[1]);
  s.unroll(local, l[0]);
  s.unroll(local, l[1]);
  for (const char* name : {"A_shared_local", "B_shared_local"}) {
    s.compute_at(s.stage(name), local, k[1]);
    for (const ir::Var& v : s.loops(s.stage(name))) s.unroll(s.stage(name), v);
  }
  for (const char* name : {"A_shared", "B_shared"}) {
    s.compute_at(s.stage(name), local, k[0]);
    testing::fill_by_threads(s, s.stage(name), ty, tx, vector);
  }
  return std::move(s).finish().value();
}

simulate::LaunchFacts facts_of(const schedule::Schedule& s, const Target& target) {
  const auto f = lower::lower_and_optimize(s, "kernel", target);
  TW_ASSERT(f.has_value(), f.error().text());
  TW_ASSERT(simulate::check_launches(*f, *target.gpu).has_value(), "too large for the GPU");
  const auto launches = simulate::launch_facts(*f);
  TW_ASSERT(launches.has_value() && launches->size() == 1, "one launch");
  return launches->front();
}

/// An elementwise kernel with these numbers: `bytes` read and written, `flops` multiply-adds in all.
simulate::LaunchFacts stream(int64_t blocks, double sectors, double fp32 = 1) {
  simulate::LaunchFacts f;
  f.grid[0] = blocks;
  f.block[0] = 256;
  f.registers = 32;
  f.fp32 = fp32;
  f.integer = 4;
  f.global_access = 2;
  f.load_sectors = sectors;
  f.store_sectors = 4;
  f.dependent_loads = 1;
  const auto bytes = static_cast<int64_t>(32 * sectors * 8);
  f.arrays = {{"X", bytes * blocks, bytes, {true, false, false}}, {"Y", 32 * 4 * 8 * blocks, 32 * 4 * 8, {true, false, false}}};
  return f;
}

}  // namespace

class KernelTimeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Elements are converted once, not in each product that they are factors of.
  void conversions() {
    const auto f = tir::parse_func(
        "@T.prim_func\n"
        "def f(A: T.Buffer((64,), \"float16\"), C: T.Buffer((32,), \"float32\")):\n"
        "    T.func_attr({\"num_outputs\": 1})\n"
        "    for x in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
        "        for i in T.unroll(4):\n"
        "            for j in T.unroll(8):\n"
        "                C[x] = C[x] + T.cast(float32, A[i]) * T.cast(float32, A[8 + j])\n");
    QVERIFY2(f, f ? "" : f.error().text().c_str());
    const auto facts = simulate::launch_facts(*f);
    QVERIFY(facts.has_value());
    QCOMPARE(facts->front().special, 0.5 * (4 + 8));
    QCOMPARE(facts->front().fp32, 32.0);
  }

  /// Siegfried Boehm's ladder of kernels for a product of 4092^3 on an RTX A6000 (SGEMM_CUDA, measured): each step is faster than the one before, here as
  /// there.
  void ladderOfMatrixProducts() {
    target::Gpu a6000 = *target::find_gpu("a5000");
    a6000.multiprocessors = 84;
    a6000.clock_mhz = 1800;
    const Target target = gpu_target(a6000);
    const std::vector<std::pair<double, schedule::Schedule>> ladder{
        {309, plain(true)},
        {1987, plain(false)},
        {2980, tiled(32, 1, 32, 1, 32)},
        {8475, tiled(8, 8, 64, 1, 8)},
        {15972, tiled(16, 8, 16, 8, 8)},
        {18237, tiled(16, 8, 16, 8, 8, 4)},
    };
    std::vector<double> measured, simulated;
    QString table;
    for (const auto& [gflops, s] : ladder) {
      const simulate::LaunchFacts f = facts_of(s, target);
      const simulate::KernelTime t = simulate::kernel_time(f, *target.gpu);
      QVERIFY(t.total > 0);
      measured.push_back(gflops);
      simulated.push_back(2.0 * kSize * kSize * kSize / t.total / 1e9);
      table += QString("%1 GFLOP/s measured, %2 simulated, limited by %3\n").arg(gflops).arg(simulated.back()).arg(t.limiter());
    }
    for (size_t i = 1; i < simulated.size(); ++i) QVERIFY2(simulated[i] > simulated[i - 1], qPrintable(table));
    for (size_t i = 0; i < simulated.size(); ++i) QVERIFY2(simulated[i] / measured[i] < 2 && measured[i] / simulated[i] < 2, qPrintable(table));
  }
  /// Neither the arithmetic units nor memory are faster than they are.
  void neverAboveTheRoofline() {
    for (const target::Gpu& gpu : target::gpu_table()) {
      const target::GpuArch& arch = target::gpu_arch(gpu.capability);
      for (const double fp32 : {1.0, 100.0, 10000.0})
        for (const int64_t blocks : {1, 100, 100000}) {
          const simulate::LaunchFacts f = stream(blocks, 4, fp32);
          const double seconds = simulate::kernel_time(f, gpu).total;
          const double arithmetic =
              fp32 * 32 * 8 * static_cast<double>(blocks) / (static_cast<double>(arch.fp32_rate) * gpu.multiprocessors * gpu.clock_mhz * 1e6);
          const double memory = static_cast<double>(f.arrays[0].bytes + f.arrays[1].bytes) / gpu.memory_bytes_per_s;
          QVERIFY2(seconds >= arithmetic, gpu.name.c_str());
          QVERIFY2(seconds >= memory || static_cast<double>(f.arrays[0].bytes + f.arrays[1].bytes) < static_cast<double>(gpu.l2_bytes), gpu.name.c_str());
        }
    }
  }
  void streamsReachTheBandwidth() {
    for (const char* name : {"titanv", "t4", "a100", "h200"}) {
      const target::Gpu& gpu = *target::find_gpu(name);
      const simulate::LaunchFacts f = stream(1 << 20, 4);
      const double rate = static_cast<double>(f.arrays[0].bytes + f.arrays[1].bytes) / simulate::kernel_time(f, gpu).total;
      QVERIFY2(rate > 0.6 * gpu.memory_bytes_per_s && rate <= gpu.memory_bytes_per_s, qPrintable(QString("%1: %2 GB/s").arg(name).arg(rate / 1e9)));
    }
  }
  void cliffs() {
    const target::Gpu& a100 = *target::find_gpu("a100");
    const auto seconds = [&](const simulate::LaunchFacts& f, int registers) { return simulate::kernel_time(f, a100, registers).total; };
    // One register more halves the blocks that fit.
    simulate::LaunchFacts wait = stream(10000, 4);
    wait.dependent_loads = 50;
    QVERIFY(seconds(wait, 129) > 1.3 * seconds(wait, 128));
    // Twice the sectors for the same elements.
    QVERIFY(seconds(stream(1 << 18, 8), 32) > 1.3 * seconds(stream(1 << 18, 4), 32));
    // One block more than fit at once runs alone.
    simulate::LaunchFacts full = stream(108 * 8, 4, 50000);
    simulate::LaunchFacts one_more = stream(108 * 8 + 1, 4, 50000);
    QVERIFY(seconds(one_more, 32) > 1.05 * seconds(full, 32));
    // A block of 33 threads takes the warps of 64.
    simulate::LaunchFacts odd = stream(10000, 4, 5000);
    odd.block[0] = 33;
    simulate::LaunchFacts even = odd;
    even.block[0] = 64;
    QCOMPARE(seconds(odd, 32), seconds(even, 32));
    // Registers that do not exist are spilled.
    simulate::LaunchFacts many = stream(10000, 4);
    many.registers = 400;
    QCOMPARE(simulate::kernel_time(many, a100).spilled_registers, 400 - 255);
    // What does not fit has no time.
    many.shared_bytes = 164 * 1024;
    QCOMPARE(simulate::kernel_time(many, a100).total, 0.0);
  }
  void fasterWithMoreOfEverything() {
    target::Gpu base = *target::find_gpu("t4");
    const simulate::LaunchFacts memory = stream(1 << 20, 4), arithmetic = stream(1 << 14, 4, 10000);
    const auto faster = [&](const simulate::LaunchFacts& f, const target::Gpu& gpu) {
      return simulate::kernel_time(f, gpu).total < simulate::kernel_time(f, base).total;
    };
    target::Gpu more = base;
    more.memory_bytes_per_s *= 2;
    QVERIFY(faster(memory, more));
    more = base;
    more.multiprocessors *= 2;
    QVERIFY(faster(arithmetic, more));
    more = base;
    more.clock_mhz *= 2;
    QVERIFY(faster(arithmetic, more));
  }
  /// Tensor cores: faster than the other units could be, not above their own rate; tiles without gaps conflict, copies ahead hide the memory.
  void productsByWarps() {
    const Target a100 = parse_target("cuda:a100").value(), t4 = parse_target("cuda:t4").value();
    const testing::WarpMatmulKnobs knobs{.m = 2048, .n = 2048, .k = 2048, .rows = 64, .columns = 64, .tall = 2, .wide = 2};
    const auto lowered = [&](testing::WarpMatmulKnobs q) {
      return lower::lower_and_optimize(testing::warp_matmul(q).finish().value(), "kernel", a100).value();
    };
    const auto facts = [&](const testing::WarpMatmulKnobs& q) { return simulate::launch_facts(lowered(q))->front(); };
    const simulate::LaunchFacts f = facts(knobs);
    QCOMPARE(f.tensor * f.warps() * static_cast<double>(f.blocks()), 2048.0 * 2048 * 2048);
    const auto seconds = [&](const simulate::LaunchFacts& x) { return simulate::kernel_time(x, *a100.gpu).total; };
    const double rate = 2.0 * 2048 * 2048 * 2048 / seconds(f);
    QVERIFY2(rate > 60e12 && rate < 312e12, qPrintable(QString::number(rate)));
    testing::WarpMatmulKnobs dense = knobs, single = knobs;
    dense.gap = 0;
    single.arrays = 1;
    QVERIFY(facts(dense).shared_wavefronts > 1.5 * f.shared_wavefronts);
    QVERIFY(facts(single).dependent_loads > 2 * f.dependent_loads);
    QVERIFY(simulate::check_launches(lowered(knobs), *a100.gpu));
    const auto refused = simulate::check_launches(lowered(knobs), *t4.gpu);
    QVERIFY(!refused);
    QCOMPARE(refused.error().message, std::string("Expected a GPU of compute capability 8.0 or newer for products on tensor cores, found t4 with 7.5"));
  }
  void limitsAreChecked() {
    const Target t4 = parse_target("cuda:t4").value(), h200 = parse_target("cuda:h200").value();
    const auto lowered = [](const schedule::Schedule& s, const Target& t) { return lower::lower_and_optimize(s, "kernel", t).value(); };
    const auto large = lowered(tiled(16, 8, 16, 8, 96), t4);  // 96 KiB of shared memory
    const auto refused = simulate::check_launches(large, *t4.gpu);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::resource_limit);
    QVERIFY2(refused.error().message.find("shared memory") != std::string::npos, refused.error().message.c_str());
    QVERIFY(simulate::check_launches(large, *h200.gpu));
    const auto crowded = simulate::check_launches(lowered(tiled(64, 1, 32, 1, 8), h200), *h200.gpu);
    QVERIFY(!crowded);
    QVERIFY2(crowded.error().message.find("2048") != std::string::npos, crowded.error().message.c_str());
  }
};

QTEST_APPLESS_MAIN(KernelTimeTest)
#include "kernel_time_test.moc"
