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
  /// As MatMulInteger is read where nothing makes numbers of its result.
  static Graph whole(double step) {
    Net n;
    const int x = cast(n, n.b.input("x", {kUInt8, {3, 8}}), "int32");
    HostArray w = HostArray::make(kInt32, {16, 8});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, step * static_cast<double>(i * 37 % 256 - 128));
    return n.finish({n.op("dense", {n.op("sub", {x, number(n, 7, kInt32)}), n.b.constant("w", std::move(w))})});
  }
  /// As pairs of QuantizeLinear and DequantizeLinear are read, around a constant that was dequantised.
  static int quantise(Net& n, int v, double low, double high) {
    const int rounded = n.op("round", {n.op("mul", {v, number(n, 100)})});
    return n.op("mul", {n.op("clip", {rounded}, Attrs{{{"min", low}, {"max", high}}}), number(n, 0.01)});
  }
  static Graph quantised(double low, double high, double step = 0.001) {
    Net n;
    return n.finish({n.op("dense", {quantise(n, n.input({3, 8}), low, high), weight(n, 32, 8, 0.0123, step)})});
  }
  static int filters(Net& n, int64_t out, int64_t in, int64_t kernel) {
    HostArray w = HostArray::make(kFloat32, {out, in, kernel, kernel});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, static_cast<double>(i * 37 % 256 - 128) * static_cast<float>(0.002 + 0.001 * static_cast<double>(i / (in * kernel * kernel))));
    return n.b.constant("w", std::move(w));
  }
  static int convolved(Net& n, int v, int64_t in, int64_t out, int64_t kernel, std::vector<int> bias = {}, int64_t groups = 1) {
    std::vector<int> operands{v, filters(n, out, in / groups, kernel)};
    operands.insert(operands.end(), bias.begin(), bias.end());
    const int64_t pad = kernel / 2;
    return n.op("conv2d", std::move(operands), Attrs{{{"pads", Dims{pad, pad, pad, pad}}, {"strides", Dims{2, 1}}, {"groups", groups}}});
  }
  static Graph convolution(int64_t in, double low, double high, int64_t kernel = 3, int64_t groups = 1) {
    Net n;
    return n.finish({convolved(n, quantise(n, n.input({2, in, 5, 6}), low, high), in, 8, kernel, {}, groups)});
  }

 private Q_SLOTS:
  void bytesWithAZeroPoint() { becomes(dynamic(8), kWithDots, "reshape dense_bytes broadcast_to reshape mul sub cast"); }
  void sumsThatStayWhole() {
    becomes(whole(1), kWithDots, "dense_bytes add");
    becomes(whole(2), kWithDots, "cast sub dense");  // no bytes
  }
  void columnsThatFillNoVectors() { becomes(dynamic(8, 21), kWithDots, "reshape dense_bytes slice broadcast_to reshape mul sub cast"); }
  void numbersThatWereQuantised() {
    becomes(quantised(0, 255), kWithDots, "mul round clip cast dense_bytes cast mul");
    becomes(quantised(-128, 127), kWithDots, "mul round clip add cast dense_bytes add cast mul");
  }
  /// Weights of uint8 less a zero point that is not 128.
  void weightsThatSpanAByteElsewhere() {
    Net n;
    const int x = n.b.input("x", {kUInt8, {3, 8}});
    HostArray w = HostArray::make(kFloat32, {16, 8});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, static_cast<double>(i * 37 % 256 - 100));
    becomes(n.finish({n.op("dense", {cast(n, x, "float32"), n.b.constant("w", std::move(w))})}), kWithDots, "dense_bytes cast reduce_sum mul add cast");
  }
  void biasesAreAdded() {
    Net n;
    const int x = n.op("clip", {n.op("round", {n.input({3, 8})})}, Attrs{{{"min", 0.0}, {"max", 255.0}}});
    becomes(n.finish({n.op("dense", {x, weight(n, 16, 8, 0.5, 0), n.weight({16})})}), kWithDots, "round clip cast dense_bytes cast mul add");
  }
  /// What stands around an image is the byte of zero.
  void convolutions() {
    becomes(convolution(8, 0, 255), kWithDots, "mul round clip cast conv2d_bytes cast mul");
    becomes(convolution(8, -114, 141), kWithDots, "mul round clip add cast conv2d_bytes add cast mul");
    becomes(convolution(8, 3, 200, 1), kWithDots, "mul round clip add cast conv2d_bytes add cast mul");
  }
  void groups() { becomes(convolution(8, -114, 141, 3, 2), kWithDots, "mul round clip add cast conv2d_bytes add cast mul"); }
  void channelsThatFourDoesNotDivide() { becomes(convolution(3, -114, 141), kWithDots, "mul round clip add cast pad conv2d_bytes add cast mul"); }
  void biasesOfConvolutions() {
    Net n;
    const int x = n.b.input("x", {kUInt8, {1, 4, 5, 5}});
    becomes(n.finish({convolved(n, cast(n, x, "float32"), 4, 8, 3, {n.weight({8})})}), kWithDots, "conv2d_bytes cast mul add");
  }
  void integersWithAKnownZeroPoint() {
    Net n;
    const int x = n.b.input("x", {kUInt8, {1, 4, 5, 5}});
    becomes(n.finish({convolved(n, cast(n, n.op("sub", {cast(n, x, "int32"), number(n, 7, kInt32)}), "float32"), 4, 8, 3)}), kWithDots, "conv2d_bytes add cast mul");
  }
  /// Memory holds bytes, and who wants numbers has them again.
  void othersReadTheBytes() {
    Net n;
    const int x = quantise(n, n.input({1, 8, 5, 6}), -3, 252), y = convolved(n, x, 8, 8, 1);
    becomes(n.finish({y, n.op("relu", {x})}), kWithDots, "mul round clip add cast cast add mul conv2d_bytes add cast mul relu");
  }
  void convolutionsThatAreLeftAlone() {
    becomes(convolution(8, 0, 255), kWithout, "mul round clip mul conv2d");
    becomes(convolution(2, 0, 255), kWithDots, "mul round clip mul conv2d");
    becomes(convolution(12, 0, 255, 3, 2), kWithDots, "mul round clip mul conv2d");  // six channels each
    becomes(convolution(8, 0, 255, 3, 8), kWithDots, "mul round clip mul conv2d");
    becomes(convolution(8, 3, 200), kWithDots, "mul round clip mul conv2d");  // no byte stands for zero
    Net n;
    const int x = n.b.input("x", {kUInt8, {1, 4, 5, 5}}), zero = n.b.input("z", {kInt32, {}});
    becomes(n.finish({convolved(n, cast(n, n.op("sub", {cast(n, x, "int32"), zero}), "float32"), 4, 8, 3)}), kWithDots, "cast sub cast conv2d");
  }
  void whatIsLeftAlone() {
    becomes(dynamic(8), kWithout, "cast sub cast reshape dense");
    becomes(dynamic(6), kWithDots, "cast sub cast reshape dense");
    becomes(quantised(0, 300), kWithDots, "mul round clip mul dense");
    becomes(quantised(1000, 1200), kWithDots, "mul round clip mul dense");  // their zero point is no byte
    becomes(quantised(0, 255.5), kWithDots, "mul round clip mul dense");
    Net n;
    const int x = n.op("clip", {n.op("round", {n.input({3, 8})})}, Attrs{{{"min", 0.0}, {"max", 255.0}}});
    becomes(n.finish({n.op("dense", {x, n.weight({16, 8})})}), kWithDots, "round clip dense");
  }
};

QTEST_APPLESS_MAIN(MultiplyBytesTest)
#include "multiply_bytes_test.moc"
