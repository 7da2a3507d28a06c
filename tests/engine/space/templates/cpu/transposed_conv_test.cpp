// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// Points of the templates of transposed convolutions against the interpreter; that their definition is that of a transposed convolution is ONNX's cases' to
/// show.
class TransposedConvTest : public QObject {
  Q_OBJECT

  static std::vector<TemplateCase> cases() {
    const auto transposed = [](Net& n, const Dims& x, const Dims& w, Values attrs) {
      return n.op("conv" + std::to_string(x.size() - 2) + "d_transpose", {n.input(x), n.weight(w)}, std::move(attrs));
    };
    return {
        {"conv2d_transpose_nchwc.cpu",
         {"stride 2, window of 4",
          [=](Net& n) {
            return n.op("relu", {transposed(n, {1, 32, 5, 6}, {32, 48, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"stride 2, window of 3",
          [=](Net& n) {
            return transposed(n, {2, 16, 7, 5}, {16, 24, 3, 3}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"stride 3, window of 2",
          [=](Net& n) {
            return transposed(n, {1, 5, 4, 4}, {5, 16, 2, 2}, {{"strides", Dims{3, 3}}});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"last blocks in part",
          [=](Net& n) {
            return n.op("relu", {transposed(n, {1, 21, 5, 4}, {21, 29, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}})});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"panels of weights in part",
          [=](Net& n) {
            return transposed(n, {1, 8, 3, 4}, {8, 112, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"stride 1, one pixel",
          [=](Net& n) {
            return transposed(n, {1, 20, 1, 1}, {20, 32, 4, 4}, {});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"output padding, strides differ",
          [=](Net& n) {
            return transposed(n, {1, 8, 3, 5}, {8, 8, 3, 5}, {{"strides", Dims{2, 3}}, {"pads", Dims{1, 2, 0, 1}}, {"output_padding", Dims{1, 2}}});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"depthwise, the last block in part",
          [=](Net& n) {
            return n.op("relu", {transposed(n, {2, 37, 5, 6}, {37, 1, 4, 4}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}, {"groups", int64_t{37}}})});
          }}},
        {"conv1d_transpose_nchwc.cpu",
         {"a line, stride 4",
          [=](Net& n) {
            return n.op("relu", {transposed(n, {2, 32, 9}, {32, 24, 8}, {{"strides", Dims{4}}, {"pads", Dims{2, 2}}})});
          }}},
        {"conv2d_transpose_nchwc.cpu",
         {"strides that fit no tile",
          [=](Net& n) {
            return transposed(n, {1, 8, 2, 2}, {8, 16, 4, 72}, {{"strides", Dims{2, 36}}, {"pads", Dims{1, 18, 1, 18}}});
          }}},
        {"conv3d_transpose_nchwc.cpu",
         {"a volume twice as large",
          [=](Net& n) {
            return transposed(n, {1, 16, 2, 3, 4}, {16, 20, 2, 2, 2}, {{"strides", Dims{2, 2, 2}}});
          }}},
        {"conv3d_transpose_nchwc.cpu",
         {"a volume, window of 3",
          [=](Net& n) {
            return transposed(n, {1, 9, 3, 2, 4}, {9, 16, 3, 3, 3}, {{"strides", Dims{2, 1, 2}}, {"pads", Dims(6, 1)}});
          }}},
    };
  }

 private Q_SLOTS:
  void keepsResults_data() { add_rows(cases()); }
  void keepsResults() {
    const std::string problem = problem_of_row(cases(), 8);
    QVERIFY2(problem.empty(), problem.c_str());
  }
  /// No tap of a window meets an inserted zero: the work is that of the gather form.
  void countsNoInsertedZeros() {
    const te::DagPtr dag = dag_of([](Net& n) {
      return n.op("conv2d_transpose", {n.input({1, 64, 8, 8}), n.weight({64, 32, 4, 4})}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
    });
    QCOMPARE(te::flops(*dag), int64_t{2} * 16 * 16 * 32 * 64 * 2 * 2);
  }
};

QTEST_APPLESS_MAIN(TransposedConvTest)
#include "engine/space/templates/cpu/transposed_conv_test.moc"
