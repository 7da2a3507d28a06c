// SPDX-License-Identifier: Apache-2.0
#include "engine/te/smaller.h"

#include <QtTest>

using namespace tw;

/// Computations over shorter axes stay well formed and read inside their arrays.
class SmallerTest : public QObject {
  Q_OBJECT

  static std::string shapes(const te::Dag& dag) {
    std::string out;
    for (const te::Op& op : dag.ops) {
      out += (out.empty() ? "" : "; ") + op.name;
      for (const int64_t d : op.output->shape) out += " " + std::to_string(d);
      for (const te::Axis& a : op.reduce_axes) out += " /" + std::to_string(a.extent);
    }
    return out;
  }
  /// The interpreter refuses what reads outside of an array.
  static void runs(const te::Dag& dag) {
    const auto valid = te::verify(dag);
    QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
    std::vector<HostArray> inputs;
    for (const te::Op& op : dag.ops)
      if (op.is_placeholder()) inputs.push_back(HostArray::make(op.output->dtype, op.output->shape));
    const auto result = te::interpret(dag, inputs);
    QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
  }

 private Q_SLOTS:
  void productsAreHalvedAlike() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {512, 100}, kFloat32), w = b.placeholder("w", {100, 48}, kFloat32);
    const te::Tensor y = b.reduce("y", {512, 48}, {100}, te::Reducer::sum,
                                  [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(r[0], s[1]); });
    const te::Tensor z = b.compute("z", {512, 48}, [&](const te::Indices& s) { return ir::max(y(s[0], s[1]), ir::fimm(kFloat32, 0)); });
    const te::DagPtr dag = std::move(b).finish({z});
    const te::DagPtr small = te::smaller(*dag, 64);
    QCOMPARE(shapes(*small), std::string("x 64 50; w 50 48; y 64 48 /50; z 64 48"));
    QCOMPARE(te::iterations(*small), int64_t{64 * 48 * 50 + 64 * 48});
    runs(*small);
    QCOMPARE(shapes(*te::smaller(*dag, 1000)), shapes(*dag));
  }
  void windowsKeepTheirTapsAndPaddingFollows() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4, 56}, kFloat32), w = b.placeholder("w", {4, 3}, kFloat32);
    const te::Tensor pad = b.compute("pad", {4, 58}, [&](const te::Indices& s) {
      return ir::select(ir::index(1) <= s[1] && s[1] < ir::index(57), x(s[0], s[1] - 1), ir::fimm(kFloat32, 0));
    });
    const te::Tensor y = b.reduce("y", {28}, {4, 3}, te::Reducer::sum,
                                  [&](const te::Indices& s, const te::Indices& r) { return pad(r[0], s[0] * 2 + r[1]) * w(r[0], r[1]); });
    const te::DagPtr dag = std::move(b).finish({y});
    const te::DagPtr small = te::smaller(*dag, 8);
    // 28 becomes 7, 21 less; two columns each.
    QCOMPARE(shapes(*small), std::string("x 4 14; w 4 3; pad 4 16; y 7 /4 /3"));
    runs(*small);
    QVERIFY2(te::print(*small).find("< 15") != std::string::npos, te::print(*small).c_str());
  }
  void whatIsTakenApartKeepsItsLength() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {128, 64}, kFloat32);
    const te::Tensor flat = b.compute("flat", {128 * 64}, [&](const te::Indices& s) { return x(ir::floor_div(s[0], ir::index(64)), ir::floor_mod(s[0], ir::index(64))); });
    const te::Tensor y = b.compute("y", {128 * 64, 100}, [&](const te::Indices& s) { return flat(s[0]); });
    const te::DagPtr small = te::smaller(*std::move(b).finish({y}), 16);
    QCOMPARE(shapes(*small), std::string("x 128 64; flat 8192; y 16 13"));
    runs(*small);
  }
};

QTEST_APPLESS_MAIN(SmallerTest)
#include "smaller_test.moc"
