// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/multiply_bytes.h"

#include <QtTest>

#include "engine/graph/passes/remove_dead_nodes.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

class MultiplyBytesTest : public QObject {
  Q_OBJECT

  using Dims = std::vector<int64_t>;
  static constexpr const char *kWithDots = "llvm -mcpu=znver4", *kWithout = "llvm -mcpu=haswell";

  static void becomes(const Graph& g, const char* target, const std::string& operators) {
    const Target t = parse_target(target).value();
    const auto s = multiply_bytes(g, t);
    QVERIFY2(s, s ? "" : s.error().text().c_str());
    const auto alive = remove_dead_nodes(*s, t);
    QVERIFY(alive);
    QCOMPARE(QString::fromStdString(tw::graph::testing::operators_of(*alive)), QString::fromStdString(operators));
    const std::string differs = tw::graph::testing::what_differs(g, *alive);
    QVERIFY2(differs.empty(), differs.c_str());
  }
  static int cast(Net& n, int v, const char* to) { return n.op("cast", {v}, Attrs{{{"to", std::string(to)}}}); }
  static int number(Net& n, double v, DType t = kFloat32) {
    HostArray a = HostArray::make(t, {});
    a.set(0, v);
    return n.b.constant("c", std::move(a));
  }
  /// Rows of whole numbers from -128 to 127 times a number of each.
  static int weight(Net& n, int64_t rows, int64_t depth, double scale, double step) {
    HostArray w = HostArray::make(kFloat32, {rows, depth});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, static_cast<double>(i * 37 % 256 - 128) * static_cast<float>(scale + step * static_cast<double>(i / depth)));
    return n.b.constant("w", std::move(w));
  }
  /// As DynamicQuantizeLinear and MatMulInteger are read: bytes and their zero point come from elsewhere.
  static Graph dynamic(int64_t depth, int64_t rows = 16) {
    Net n;
    const int x = n.b.input("x", {kUInt8, {1, 3, depth}}), zero = n.b.input("z", {kInt32, {}});
    const int moved = cast(n, n.op("sub", {cast(n, x, "int32"), zero}), "float32");
    return n.finish({n.op("dense", {n.op("reshape", {moved}, Attrs{{{"shape", Dims{3, depth}}}}), weight(n, rows, depth, 1, 0)})});
  }
  /// As pairs of QuantizeLinear and DequantizeLinear are read, around a constant that was dequantised.
  static Graph quantised(double low, double high, double step = 0.001) {
    Net n;
    const int rounded = n.op("round", {n.op("mul", {n.input({3, 8}), number(n, 100)})});
    const int x = n.op("mul", {n.op("clip", {rounded}, Attrs{{{"min", low}, {"max", high}}}), number(n, 0.01)});
    return n.finish({n.op("dense", {x, weight(n, 32, 8, 0.0123, step)})});
  }

 private Q_SLOTS:
  void bytesWithAZeroPoint() { becomes(dynamic(8), kWithDots, "reshape dense_bytes broadcast_to reshape mul sub cast"); }
  void columnsThatFillNoVectors() { becomes(dynamic(8, 21), kWithDots, "reshape dense_bytes slice broadcast_to reshape mul sub cast"); }
  void numbersThatWereQuantised() {
    becomes(quantised(0, 255), kWithDots, "mul round clip cast reshape dense_bytes cast mul");
    becomes(quantised(-128, 127), kWithDots, "mul round clip add cast reshape dense_bytes broadcast_to reshape mul add cast mul");
  }
  /// Weights of uint8 less a zero point that is not 128.
  void weightsThatSpanAByteElsewhere() {
    Net n;
    const int x = n.b.input("x", {kUInt8, {3, 8}});
    HostArray w = HostArray::make(kFloat32, {16, 8});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, static_cast<double>(i * 37 % 256 - 100));
    becomes(n.finish({n.op("dense", {cast(n, x, "float32"), n.b.constant("w", std::move(w))})}), kWithDots, "reshape dense_bytes cast reduce_sum mul add cast");
  }
  void biasesAreAdded() {
    Net n;
    const int x = n.op("clip", {n.op("round", {n.input({3, 8})})}, Attrs{{{"min", 0.0}, {"max", 255.0}}});
    becomes(n.finish({n.op("dense", {x, weight(n, 16, 8, 0.5, 0), n.weight({16})})}), kWithDots, "round clip cast reshape dense_bytes cast mul add");
  }
  void whatIsLeftAlone() {
    becomes(dynamic(8), kWithout, "cast sub cast reshape dense");
    becomes(dynamic(6), kWithDots, "cast sub cast reshape dense");
    becomes(quantised(0, 300), kWithDots, "mul round clip mul dense");
    becomes(quantised(0, 255.5), kWithDots, "mul round clip mul dense");
    Net n;
    const int x = n.op("clip", {n.op("round", {n.input({3, 8})})}, Attrs{{{"min", 0.0}, {"max", 255.0}}});
    becomes(n.finish({n.op("dense", {x, n.weight({16, 8})})}), kWithDots, "round clip dense");
  }
};

QTEST_APPLESS_MAIN(MultiplyBytesTest)
#include "multiply_bytes_test.moc"
