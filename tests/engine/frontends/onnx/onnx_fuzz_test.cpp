// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/rng.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/graph.h"
#include "tests/engine/frontends/onnx/model_text.h"

using namespace tw;
using namespace onnx_test;

/// Damaged files give an Error or a graph that verifies: never a crash, an exception or unbounded memory.
class OnnxFuzzTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void truncations();
  void bit_flips();
};

namespace {

constexpr uint64_t kSeed = 20261121;

/// Convolution, pooling, a computed shape and a matrix product: every kind of operand that the reader looks into.
std::string sample() {
  onnx::ModelProto m = model();
  input(m, "x", {1, 2, 6, 6});
  floats(m, "w", {4, 2, 3, 3}, std::vector<float>(72, 0.5F));
  floats(m, "v", {16, 3}, std::vector<float>(48, 0.25F));
  longs(m, "shape", {1, -1});
  longs(m, "starts", {0});
  longs(m, "ends", {2});
  longs(m, "axes", {2});
  onnx::NodeProto* conv = node(m, "Conv", {"x", "w"}, "c");
  integers(conv, "strides", {1, 1});
  integers(conv, "pads", {1, 1, 1, 1});
  onnx::NodeProto* pool = node(m, "MaxPool", {"c"}, "p");
  integers(pool, "kernel_shape", {3, 3});
  integers(pool, "strides", {2, 2});
  integers(pool, "pads", {1, 1, 1, 1});
  node(m, "Slice", {"p", "starts", "ends", "axes"}, "s");
  integers(node(m, "Transpose", {"s"}, "t"), "perm", {0, 1, 3, 2});
  integers(node(m, "ReduceMean", {"t"}, "mean"), "axes", {3});
  node(m, "Sub", {"t", "mean"}, "d");
  integer(node(m, "Concat", {"d", "d"}, "dd"), "axis", 1);
  integers(node(m, "ReduceMax", {"dd"}, "r"), "axes", {2});
  node(m, "Shape", {"r"}, "unused");
  node(m, "Reshape", {"r", "shape"}, "f");
  integer(node(m, "Softmax", {"f"}, "sm"), "axis", 1);
  node(m, "ConstantOfShape", {"shape_2"}, "z");
  longs(m, "shape_2", {2, 16});
  node(m, "Flatten", {"z"}, "zf");
  node(m, "Add", {"sm", "zf"}, "y");
  output(m, "y");
  return bytes(m);
}

void verify_harmless(const std::string& file, const char* what, uint64_t n) {
  try {
    const auto g = frontends::read_onnx_bytes(file, {});
    if (!g) {
      QVERIFY(!g.error().message.empty());
      return;
    }
    const auto ok = graph::verify(*g);
    QVERIFY2(ok.has_value(), ok ? "" : qPrintable(QString("%1 %2: %3").arg(what).arg(n).arg(QString::fromStdString(ok.error().text()))));
  } catch (const std::exception& e) {
    QFAIL(qPrintable(QString("%1 %2 threw: %3").arg(what).arg(n).arg(e.what())));
  }
}

}  // namespace

void OnnxFuzzTest::truncations() {
  const std::string file = sample();
  const auto whole = frontends::read_onnx_bytes(file, {});
  QVERIFY2(whole.has_value(), whole ? "" : whole.error().text().c_str());
  for (size_t n = 0; n < file.size(); n += 3) verify_harmless(file.substr(0, n), "cut at", n);
}

void OnnxFuzzTest::bit_flips() {
  const std::string file = sample();
  Rng rng(kSeed);
  int imported = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = file;
    const uint64_t flips = 1 + rng.uniform(4);
    for (uint64_t k = 0; k < flips; ++k) damaged[rng.uniform(damaged.size())] ^= static_cast<char>(1 << rng.uniform(8));
    verify_harmless(damaged, "round", static_cast<uint64_t>(round));
    if (QTest::currentTestFailed()) return;
    imported += frontends::read_onnx_bytes(damaged, {}).has_value();
  }
  qInfo("seed %llu: %d of 1500 damaged files still import", static_cast<unsigned long long>(kSeed), imported);
}

QTEST_APPLESS_MAIN(OnnxFuzzTest)
#include "onnx_fuzz_test.moc"
