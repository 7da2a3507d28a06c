// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/space/fallback.h"
#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaDenseLargeBatchTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "dense_large_batch.gpu";
  static GpuCases cases() {
    return {
        {"dense, many rows", gpu_dense(32, 24, 32)},
        {"dense, many rows, fused", gpu_dense(36, 20, 18, true)},
        {"dense, many rows, half", gpu_dense16(40, 24, 72)},
        {"dense, odd, bfloat", gpu_dense16(36, 20, 18, kBFloat16)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// Layers of real networks have a valid point without tuning, for every GPU of the table.
  void fallback_points() {
    const std::string problem = problem_of_fallbacks(kName, {gpu_dense(128, 768, 768)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// BERT with 128 words, as AutoTVM counts it.
  void sizes() {
    QCOMPARE(size_of(gpu_dense(128, 768, 768), kName), 10692000);
    QCOMPARE(size_of(gpu_dense(128, 3072, 768), kName), 18532800);
  }
  /// 4096 ones in half: a sum that is rounded at each step would stop at 2048.
  void halves_are_summed_up_in_float() {
    const te::DagPtr dag = dag_of([](Net& n) {
      const int x = n.input({32, 4096}, kFloat16), w = n.weight({2, 4096}, kFloat16);
      return n.op("dense", {x, w});
    });
    const space::Template& t = gpu_template(dag, "dense_large_batch.gpu");
    for (const schedule::Schedule& s : {t.apply(dag, a100(), t.fallback(*dag, a100())).value(), space::rule_schedule(dag, a100(), {}).value()}) {
      const auto func = lower::lower_and_optimize(s, "kernel", a100());
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      std::vector<HostArray> args;
      for (const Dims& shape : {Dims{32, 4096}, Dims{2, 4096}, Dims{32, 2}}) {
        args.push_back(HostArray::make(kFloat16, shape));
        for (int64_t k = 0; k < args.back().num_elements(); ++k) args.back().set(k, 1);
      }
      const auto ran = tir::interpret(*func, args);
      QVERIFY2(ran, ran ? "" : ran.error().text().c_str());
      for (int64_t k = 0; k < 64; ++k) QCOMPARE(args.back().get(k), 4096.0);
      // Registers hold what is computed; bits of a half are made for memory only.
      const auto source = codegen::cuda_source(*func);
      QVERIFY(source && source->text.find("float_to_half(") != std::string::npos);
      for (const char* local : {"dense_local[", "dense_part["})
        for (size_t at = source->text.find(local); at != std::string::npos; at = source->text.find(local, at + 1)) {
          const std::string text = source->text.substr(at, source->text.find('\n', at) - at);
          QVERIFY2(text.find("] = float_to_half(") == std::string::npos, text.c_str());
        }
    }
  }
  /// Of 128 terms with 16 products each as many as fit 512, which NVRTC compiles in a fraction of the time.
  void long_sums_are_unrolled_in_part() {
    const te::DagPtr dag = gpu_dense(128, 128, 256);
    const space::Template& t = gpu_template(dag, "dense_large_batch.gpu");
    const Dims tile{-1, 1, 8, 4};
    const space::ConfigEntity e = space::point_with(t.space(*dag, a100()), {{"tile_x", tile}, {"tile_y", tile}, {"tile_k", Dims{-1, 32, 4}}});
    QVERIFY(e.index() >= 0);
    const auto func = lower::lower_and_optimize(t.apply(dag, a100(), e).value(), "kernel", a100());
    QVERIFY2(func, func ? "" : func.error().text().c_str());
    const std::string text = tir::print(*func);
    QVERIFY2(text.find("T.unroll(32)") != std::string::npos && text.find("T.unroll(128)") == std::string::npos, text.c_str());
  }
  void halves_are_fetched_in_vectors() {
    const std::string problem = problem_of_fetched_halves(gpu_dense16(512, 512, 512));
    QVERIFY2(problem.empty(), problem.c_str());
  }
};

QTEST_APPLESS_MAIN(CudaDenseLargeBatchTest)
#include "engine/space/templates/cuda/dense_large_batch_test.moc"
