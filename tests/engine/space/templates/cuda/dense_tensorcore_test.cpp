// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaDenseTensorcoreTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "dense_tensorcore.cuda";
  static GpuCases cases() {
    return {
        {"dense, half", gpu_dense16(64, 96, 128)},
        {"dense, bfloat", gpu_dense16(32, 64, 48, kBFloat16)},
        {"dense, TF32", gpu_dense(32, 48, 64, true), "cuda:a100,tf32"},
        {"dense, bytes", gpu_dense8(32, 64, 96)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// 16 warps of 64 by 64 take more registers than a block has, though each thread takes less than it may; 8 of them fit.
  void registers_of_a_block() {
    const te::DagPtr dag = gpu_dense16(1024, 1024, 1024);
    const space::ConfigSpace space = gpu_template(dag, kName).space(*dag, a100());
    int refused = 0, taken = 0;
    for (int64_t k = 0; k < space.size(); ++k) {
      const space::ConfigEntity e = space.get(k).value();
      const int64_t warps = e.integer("block_row_warps") * e.integer("block_col_warps");
      if (warps < 8 || e.integer("wmma_m") != 16 || e.integer("warp_row_tiles") != 4 || e.integer("warp_col_tiles") != 4 || e.integer("chunk") != 2) continue;
      const std::string why = space.filtered_reason(e);
      QCOMPARE(why == "the results of a thread do not fit its registers", warps == 16);
      refused += warps == 16;
      taken += why.empty();
    }
    QVERIFY(refused > 0 && taken > 0);
  }
  /// Untuned products by tensor cores: large tiles, several of them under way, no register spilled, all real architectures.
  void tensorcores() {
    QCOMPARE(size_of(gpu_dense16(128, 768, 768), "dense_tensorcore.cuda"), int64_t{15552});
    const te::DagPtr large = gpu_dense16(4096, 4096, 4096);
    QVERIFY(!space::find_template(*large, parse_target("cuda:t4").value(), "dense_tensorcore.cuda"));
    QVERIFY(!space::find_template(*gpu_dense16(4096, 4090, 4096), a100(), "dense_tensorcore.cuda"));
    for (const char* name : {"a100", "a5000", "h200"}) {
      const Target target = parse_target(std::string("cuda:") + name).value();
      const auto chosen = space::fallback(large, target);
      const space::Template* t = chosen ? chosen->space_template : nullptr;
      QVERIFY(t && std::string_view(t->name) == "dense_tensorcore.cuda");
      const auto s = t->apply(large, target, t->fallback(*large, target));
      QVERIFY2(s, s ? "" : s.error().text().c_str());
      const auto func = lower::lower_and_optimize(*s, "kernel", target);
      QVERIFY2(func, func ? "" : func.error().text().c_str());
      const auto launches = tir::split_launches(*func);
      QVERIFY(launches && launches->launches.size() == 1);
      QVERIFY(launches->launches[0].grid[0] * launches->launches[0].grid[1] >= target.gpu->multiprocessors);
      const auto source = codegen::cuda_source(*func);
      QVERIFY(source && source->text.find("copy_async<16>") != std::string::npos && source->text.find("multiply_half") != std::string::npos);
      QVERIFY(source->text.find("wait_copies<2>") != std::string::npos || source->text.find("wait_copies<1>") != std::string::npos);
      if (!codegen::nvrtc_version()) continue;
      const auto binary = codegen::nvrtc_compile(source->text, target.gpu->capability);
      QVERIFY2(binary, binary ? "" : (binary.error().text() + "\n" + source->text).c_str());
      const codegen::KernelResources& r = binary->kernels[0];
      qInfo("%s: %s: %d registers", name, t->fallback(*large, target).text().c_str(), r.registers);
      QCOMPARE(r.stack_bytes + r.spill_store_bytes + r.spill_load_bytes, int64_t{0});
      QVERIFY(target::occupancy(target.gpu->capability, static_cast<int>(launches->launches[0].threads()), r.registers, launches->launches[0].shared_bytes())
                  .blocks >= 1);
    }
  }
};

QTEST_APPLESS_MAIN(CudaDenseTensorcoreTest)
#include "engine/space/templates/cuda/dense_tensorcore_test.moc"
