// SPDX-License-Identifier: Apache-2.0
#include "engine/target/gpu.h"

#include <QtTest>

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
