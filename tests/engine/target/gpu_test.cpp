// SPDX-License-Identifier: Apache-2.0
#include "engine/target/gpu.h"

#include <QtTest>
#include <array>
#include <map>

#include "engine/base/json.h"
#include "engine/target/target.h"

using namespace tw;
using target::Occupancy;

/// Named GPUs: their text and JSON, and how many blocks fit.
class GpuTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Blocks on a multiprocessor, computed with NVIDIA's cuda_occupancy.h of CUDA 13.0 for the capabilities 7.0, 7.5, 8.0, 8.6, 8.7 and 9.0.
  void blocksAsNvidiaCounts_data() {
    QTest::addColumn<int>("threads");
    QTest::addColumn<int>("registers");
    QTest::addColumn<int>("shared");
    QTest::addColumn<QList<int>>("blocks");
    constexpr int KiB = 1024;
    QTest::newRow("registers, 64") << 256 << 64 << 16 * KiB << QList<int>{4, 4, 4, 4, 4, 4};
    QTest::newRow("registers, 54") << 256 << 54 << 16 * KiB << QList<int>{4, 4, 4, 4, 4, 4};
    QTest::newRow("registers, 89") << 256 << 89 << 24 * KiB << QList<int>{2, 2, 2, 2, 2, 2};
    QTest::newRow("registers, 123") << 256 << 123 << 16 * KiB << QList<int>{2, 2, 2, 2, 2, 2};
    QTest::newRow("registers, 133") << 256 << 133 << 32 * KiB << QList<int>{1, 1, 1, 1, 1, 1};
    QTest::newRow("registers, 209") << 256 << 209 << 24 * KiB << QList<int>{1, 1, 1, 1, 1, 1};
    QTest::newRow("shared") << 128 << 200 << 96 * KiB << QList<int>{1, 0, 1, 1, 1, 2};
    QTest::newRow("most registers") << 128 << 255 << 0 << QList<int>{2, 2, 2, 2, 2, 2};
    QTest::newRow("most threads") << 1024 << 64 << 0 << QList<int>{1, 1, 1, 1, 1, 1};
    QTest::newRow("too many registers for the threads") << 1024 << 65 << 0 << QList<int>{0, 0, 0, 0, 0, 0};
  }
  void blocksAsNvidiaCounts() {
    QFETCH(int, threads);
    QFETCH(int, registers);
    QFETCH(int, shared);
    QFETCH(QList<int>, blocks);
    QList<int> found;
    for (const int capability : {70, 75, 80, 86, 87, 90}) found.push_back(target::occupancy(capability, threads, registers, shared).blocks);
    QCOMPARE(found, blocks);
  }
  /// Steps at 256 threads with 65536 registers.
  void registerSteps() {
    for (const auto& [registers, blocks] : {std::pair{32, 8}, {33, 6}, {40, 6}, {48, 5}, {64, 4}, {80, 3}, {128, 2}, {129, 1}, {255, 1}, {256, 0}})
      QCOMPARE(target::occupancy(80, 256, registers, 0).blocks, blocks);
  }
  void whatLimits() {
    QCOMPARE(target::occupancy(80, 256, 133, 0).limit, Occupancy::Limit::registers);
    QCOMPARE(target::occupancy(75, 1024, 32, 0).limit, Occupancy::Limit::threads);
    QCOMPARE(target::occupancy(90, 32, 16, 0).limit, Occupancy::Limit::blocks);
    QCOMPARE(target::occupancy(80, 64, 32, 100 * 1024).limit, Occupancy::Limit::shared);
    QCOMPARE(target::occupancy(80, 1025, 32, 0).blocks, 0);
    QCOMPARE(target::occupancy(80, 256, 32, 163 * 1024 + 1).limit, Occupancy::Limit::shared);
    QCOMPARE(target::occupancy(80, 256, 64, 0).share, 0.5);
  }
  void everyGpuHasItsArchitecture() {
    for (const target::Gpu& g : target::gpu_table()) {
      QCOMPARE(target::gpu_arch(g.capability).capability, g.capability);
      QCOMPARE(*target::find_gpu(g.name), g);
      // The data sheets' share of fp32 multiply-adds, from 3 TFLOP/s of the smallest to 67 of the largest.
      const double flops = target::peak_flops(g);
      QVERIFY(flops > 3e12 && flops < 68e12);
    }
  }
  /// What CUDA's programming guide prints of each compute capability: registers, shared memory in KiB of a multiprocessor and of a block, threads and blocks, and
  /// results a clock of float32, float64, float16, int32 and special functions; last the multiply-adds of tensor units by the white papers.
  void capabilitiesAsTheGuideHasThem() {
    const std::vector<std::array<int, 13>> guide = {
        {37, 128, 112, 48, 2048, 16, 192, 64, 0, 160, 32, 0, 128},      {70, 64, 96, 96, 2048, 32, 64, 32, 128, 64, 16, 512, 128},
        {75, 64, 64, 64, 1024, 16, 64, 2, 128, 64, 16, 512, 96},        {80, 64, 164, 163, 2048, 32, 64, 32, 256, 64, 16, 1024, 192},
        {86, 64, 100, 99, 1536, 16, 128, 2, 128, 64, 16, 512, 128},     {87, 64, 164, 163, 1536, 16, 128, 2, 128, 64, 16, 1024, 192},
        {90, 64, 228, 227, 2048, 32, 128, 64, 256, 64, 16, 2048, 256},
    };
    for (const auto& [capability, registers, shared, block, threads, blocks, fp32, fp64, fp16, integers, special, tensor, l1] : guide) {
      const target::GpuArch& a = target::gpu_arch(capability);
      const std::vector<int> found = {a.capability, a.registers_per_multiprocessor, a.shared_per_multiprocessor, a.shared_opt_in, a.threads_per_multiprocessor,
                                      a.blocks_per_multiprocessor, a.fp32_rate, a.fp64_rate, a.fp16_rate, a.int_rate, a.special_rate, a.tensor_rate, a.l1_bytes};
      QCOMPARE(found, (std::vector<int>{capability, registers * 1024, shared * 1024, block * 1024, threads, blocks, fp32, fp64, fp16, integers, special, tensor, l1 * 1024}));
      // From 8.0 on the system keeps a KiB of each block's shared memory, which is handed out by 128 bytes instead of 256.
      QCOMPARE(a.shared_reserved, capability >= 80 ? 1024 : 0);
      QCOMPARE(a.shared_unit, capability >= 80 ? 128 : 256);
      QCOMPARE(a.floats_or_integers, capability == 86 || capability == 87);
      // The farther memory is, the longer it takes.
      QVERIFY(a.shared_latency >= 19 && a.shared_latency <= 40 && a.l2_latency > 4 * a.shared_latency && a.memory_latency > 3 * a.l2_latency / 2);
    }
    QCOMPARE(target::gpu_arch(89).capability, 87);
    QCOMPARE(target::gpu_arch(120).capability, 90);
  }
  /// Multiprocessors, GB and GB/s of memory and KiB of the second cache by the cards' data sheets.
  void cardsAsTheirDataSheetsHaveThem() {
    const std::map<std::string, std::tuple<int, int, double, int>> sheets = {
        {"k80", {13, 12, 240, 1536}},      {"titanv", {80, 12, 653, 4608}},   {"t4", {40, 16, 320, 4096}},         {"a100", {108, 40, 1555, 40960}},
        {"a100-80", {108, 80, 2039, 40960}}, {"a5000", {64, 24, 768, 6144}},  {"a10g", {80, 24, 600, 6144}},       {"orin", {16, 64, 204.8, 4096}},
        {"orin-32", {14, 32, 204.8, 4096}}, {"h100", {132, 80, 3350, 51200}}, {"h200", {132, 141, 4800, 51200}},
    };
    QCOMPARE(target::gpu_table().size(), sheets.size());
    for (const target::Gpu& g : target::gpu_table()) {
      const auto& [multiprocessors, gigabytes, rate, l2] = sheets.at(g.name);
      QCOMPARE(g.multiprocessors, multiprocessors);
      QCOMPARE(g.memory_bytes, gigabytes * int64_t{1'000'000'000});
      QCOMPARE(g.memory_bytes_per_s, rate * 1e9);
      QCOMPARE(g.l2_bytes, l2 * int64_t{1024});
      QVERIFY(g.tensor_clock_mhz <= g.clock_mhz && g.l2_bytes_per_s > g.memory_bytes_per_s);
    }
    // Tensor units without sparsity, in TFLOP/s.
    for (const auto& [name, tflops] : {std::pair{"t4", 65.0}, {"a100", 312.0}, {"h100", 990.0}}) {
      const target::Gpu& g = *target::find_gpu(name);
      QVERIFY(2e-12 * target::gpu_arch(g.capability).tensor_rate * g.multiprocessors * g.clock_mhz * 1e6 > 0.99 * tflops);
    }
  }
  /// What is wrong of a launch is named: threads first, then registers, then shared memory.
  void whatRefusesALaunch() {
    const auto limit = [](int threads, int registers, int64_t shared) { return target::occupancy(80, threads, registers, shared).limit; };
    for (const int threads : {0, -1, 1025}) QCOMPARE(limit(threads, 256, 1 << 20), Occupancy::Limit::threads);
    for (const int threads : {1, 2, 1024}) QCOMPARE(limit(threads, 256, 1 << 20), Occupancy::Limit::registers);
    QCOMPARE(limit(1, 255, 1 << 20), Occupancy::Limit::shared);
    QCOMPARE(target::occupancy(80, 1, 255, 0).blocks, 8);
    QCOMPARE(target::occupancy(80, 1, 16, 163 * 1024).blocks, 1);
    QCOMPARE(target::occupancy(80, 1024, 16, 0).blocks, 2);
  }
  void textAndJson() {
    for (const target::Gpu& g : target::gpu_table()) {
      const auto t = parse_target("cuda:" + g.name);
      QVERIFY(t);
      QCOMPARE(t->kind, std::string("cuda"));
      QCOMPARE(*parse_target(t->str()), *t);
      QCOMPARE(*target_from_json(to_json(*t)), *t);
    }
    QCOMPARE(parse_target("cuda:a100")->str(), std::string("cuda -arch=sm_80 -model=a100"));
    const auto logged = parse_target("cuda -keys=cuda,gpu -arch=sm_75 -max_num_threads=1024 -model=unknown -thread_warp_size=32");
    QVERIFY(logged);
    QCOMPARE(logged->gpu->name, std::string("t4"));
    QCOMPARE(parse_target("cuda -model=nvidia/nvidia-a100")->gpu->name, std::string("a100"));
  }
  /// Whether products may be rounded is a part of the target's name, and so of every task's key.
  void tf32IsAsked() {
    const Target plain = parse_target("cuda:h200").value(), rounded = parse_target("cuda:h200,tf32").value();
    QVERIFY(!plain.allows_tf32() && rounded.allows_tf32() && plain != rounded);
    QCOMPARE(rounded.str(), std::string("cuda -arch=sm_90 -model=h200 -mattr=+tf32"));
    QCOMPARE(parse_target(rounded.str()).value(), rounded);
    QCOMPARE(target_from_json(to_json(rounded)).value(), rounded);
    QVERIFY(!to_json(plain).contains("features"));
    for (const auto& [text, part] : {std::pair{"cuda:t4,tf32", "8.0 or newer for TF32"}, {"cuda:h200,int4", "'int4'"}, {"cuda:a100,", "''"}}) {
      const auto t = parse_target(text);
      QVERIFY2(!t && t.error().message.find(part) != std::string::npos, t ? text : t.error().text().c_str());
    }
    QVERIFY(!parse_target("llvm").value().allows_tf32());
    Json j = to_json(rounded);
    j["features"] = Json::array({"+fp8"});
    QVERIFY(!target_from_json(j));
  }
  void refusals() {
    for (const auto& [text, found] :
         {std::pair{"cuda", "found none"}, {"cuda:gtx9", "'gtx9'"}, {"cuda -fast", "'-fast'"}, {"cuda -arch=sm_12", "'sm_12'"}, {"cuda -arch=80", "'80'"}}) {
      const auto t = parse_target(text);
      QVERIFY2(!t, text);
      QVERIFY2(t.error().message.find(found) != std::string::npos, t.error().message.c_str());
    }
    Json j = to_json(*parse_target("cuda:t4"));
    j["multiprocessors"] = 0;
    QCOMPARE(target_from_json(j).error().code, ErrorCode::parse_error);
    j = to_json(*parse_target("cuda:t4"));
    j.erase("memory_bytes_per_s");
    QCOMPARE(target_from_json(j).error().code, ErrorCode::parse_error);
  }
};

QTEST_APPLESS_MAIN(GpuTest)
#include "gpu_test.moc"
