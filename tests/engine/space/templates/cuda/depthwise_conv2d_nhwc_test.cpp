// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/templates/cuda/gpu_template_check.h"

using namespace tw;
using namespace tw::space::testing;

class CudaDepthwiseConv2dNhwcTest : public QObject {
  Q_OBJECT

  static constexpr const char* kName = "depthwise_conv2d_nhwc.cuda";
  static GpuCases cases() {
    return {
        {"depthwise, channels last", gpu_channelwise({1, 8, 10, 24}, {3, 3, 24, 1}, 1, 1)},
        {"depthwise, channels last, stride, fused", gpu_channelwise({2, 9, 9, 32}, {3, 3, 32, 1}, 2, 1, 1, true)},
        {"depthwise, channels last, two of each", gpu_channelwise({1, 7, 8, 12}, {3, 3, 12, 2}, 1, 1, 1, true)},
        {"depthwise, channels last, three of each, dilated", gpu_channelwise({1, 10, 9, 5}, {3, 2, 5, 3}, 1, 0, 2)},
        {"depthwise, channels last, half", gpu_channelwise({1, 8, 10, 48}, {3, 3, 48, 1}, 1, 1, 1, true, kFloat16)},
    };
  }

 private Q_SLOTS:
  void points_data() { add_gpu_rows(kName, cases()); }
  void points() {
    const std::string problem = problem_of_gpu_row(kName, cases());
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// 64 channels and 56 rows and columns in four factors, times 3 * 2 * 3.
  void size() { QCOMPARE(size_of(gpu_channelwise({1, 56, 56, 64}, {3, 3, 64, 1}, 1, 1), kName), int64_t{84} * 80 * 80 * 18); }
  /// Written by hand: a vector of channels a thread, read or zero as a whole, stored as a whole.
  void channels_last_as_text() {
    const auto dag = te::parse_dag(
        "x: float16[1, 28, 28, 96] = placeholder(activation)\n"
        "w: float16[3, 3, 96, 1] = placeholder(constant)\n"
        "pad: float16[1, 30, 30, 96] = compute(i, j, k, l) \"pad\"\n"
        "    select(1 <= j and j < 29 and 1 <= k and k < 29, x[i, j - 1, k - 1, l], T.float16(0))\n"
        "y: float16[1, 28, 28, 96] = sum(i, j, k, l, r0=3, r1=3) \"depthwise_conv2d_nhwc\"\n"
        "    pad[i, j + r0, k + r1, l // 1] * w[r0, r1, l // 1, l % 1]\n"
        "outputs(y)\n");
    QVERIFY2(dag, dag ? "" : dag.error().text().c_str());
    const auto chosen = space::fallback(*dag, a100());
    const space::Template* t = chosen ? chosen->space_template : nullptr;
    QVERIFY(t && std::string_view(t->name) == "depthwise_conv2d_nhwc.cuda");
    const auto source = codegen::cuda_source(lower::lower_and_optimize(t->apply(*dag, a100(), t->fallback(**dag, a100())).value(), "kernel", a100()).value());
    QVERIFY2(source, source ? "" : source.error().text().c_str());
    for (const char* part : {"inside ? *(const ushort4*)&x[", ": ushort4();", "*(const uint4*)&w[", "*(const ushort4*)&pad_shared[", "*(ushort4*)&y["})
      QVERIFY2(source->text.find(part) != std::string::npos, (std::string(part) + "\n" + source->text).c_str());
  }
};

QTEST_APPLESS_MAIN(CudaDepthwiseConv2dNhwcTest)
#include "engine/space/templates/cuda/depthwise_conv2d_nhwc_test.moc"
