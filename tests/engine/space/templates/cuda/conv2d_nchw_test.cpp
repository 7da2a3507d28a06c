// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaConv2dNchwTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "conv2d_nchw.cuda";
  static GpuCases cases() {
    return {
        {"conv 3x3, relu", gpu_conv({1, 6, 8, 8}, {8, 6, 3, 3}, 1, 1, 1, "conv2d", true)},
        {"conv 3x3, stride", gpu_conv({2, 4, 9, 9}, {6, 4, 3, 3}, 2, 1)},
        {"conv 1x1", gpu_conv({1, 8, 7, 7}, {12, 8, 1, 1}, 1, 0)},
        {"conv 5x3", gpu_conv({1, 3, 8, 10}, {4, 3, 5, 3}, 1, 0)},
        {"conv, half", gpu_conv16("conv2d", {1, 8, 9, 9}, {12, 8, 3, 3})},
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
    const std::string problem = problem_of_fallbacks(kName, {layer(3, 64, 224, 7, 2), layer(64, 64, 56, 3, 1), layer(2048, 512, 7, 1, 1)});
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// ResNet-50 at batch 1, as AutoTVM counts it.
  void sizes() {
    const auto conv = [](int64_t in, int64_t out, int64_t hw, int64_t kernel, int64_t stride) { return size_of(layer(in, out, hw, kernel, stride), kName); };
    QCOMPARE(conv(3, 64, 224, 7, 2), 79027200);
    QCOMPARE(conv(64, 64, 56, 1, 1), 22579200);
    QCOMPARE(conv(64, 64, 56, 3, 1), 90316800);
    QCOMPARE(conv(64, 256, 56, 1, 1), 44352000);
    QCOMPARE(conv(256, 64, 56, 1, 1), 29030400);
    QCOMPARE(conv(128, 128, 56, 3, 2), 36864000);
    QCOMPARE(conv(256, 512, 56, 1, 2), 19008000);
    QCOMPARE(conv(256, 256, 14, 3, 1), 9123840);
    QCOMPARE(conv(512, 512, 7, 3, 1), 844800);
    QCOMPARE(conv(2048, 512, 7, 1, 1), 253440);
  }
  /// A record of AutoTVM's for the last 3x3 layer of ResNet-18.
  void logged_index_decodes_to_its_entity() {
    const te::DagPtr dag = layer(512, 512, 7, 3, 1);
    const auto e = gpu_template(dag, "conv2d_nchw.cuda").space(*dag, a100()).get(649034);
    QVERIFY(e.has_value());
    QCOMPARE(
        e->json_text(),
        std::string(R"([["tile_f","sp",[-1,1,16,1]],["tile_y","sp",[-1,1,7,1]],["tile_x","sp",[-1,7,1,1]],["tile_rc","sp",[-1,16]],["tile_ry","sp",[-1,1]],)"
                    R"(["tile_rx","sp",[-1,3]],["auto_unroll_max_step","ot",512],["unroll_explicit","ot",1]])"));
  }
};

QTEST_APPLESS_MAIN(CudaConv2dNchwTest)
#include "engine/space/templates/cuda/conv2d_nchw_test.moc"
