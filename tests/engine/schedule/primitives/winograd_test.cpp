// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class WinogradTest : public QObject {
  Q_OBJECT

  static te::DagPtr image(int64_t stride = 1) {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {1, 2, 7, 7}, kFloat32), w = d.placeholder("w", {3, 2, 3, 3}, kFloat32, te::Role::constant);
    const int64_t out = stride == 1 ? 5 : 3;
    return std::move(d).finish({d.reduce("y", {1, 3, out, out}, {2, 3, 3}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) {
      return x(s[0], r[0], s[2] * stride + r[1], s[3] * stride + r[2]) * w(s[1], r[0], r[1], r[2]);
    })});
  }

 private Q_SLOTS:
  void five_stages_come_before() {
    Builder b(image());
    QCOMPARE(b.winograd(2, 2), 2);
    QCOMPARE(b.num_stages(), 8);
    QCOMPARE(b.at(2).op.name, std::string("y_pad"));
    QCOMPARE(b.at(2).op.output->shape, (std::vector<int64_t>{1, 2, 8, 8}));  // whole tiles
    QCOMPARE(b.at(5).op.output->shape, (std::vector<int64_t>{4, 4, 1, 3, 3, 3}));
    QCOMPARE(b.at(1).op.output->shape, (std::vector<int64_t>{3, 2, 4, 4}));  // transformed weights
    Builder flat(image());
    flat.winograd(2, 2, true);
    QCOMPARE(flat.at(5).op.output->shape, (std::vector<int64_t>{4, 4, 3, 9}));
  }
  /// Planes stay apart: every one is transformed, and the products are summed over the window's planes too.
  void volumes() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {1, 2, 5, 7, 7}, kFloat32), w = d.placeholder("w", {3, 2, 3, 3, 3}, kFloat32, te::Role::constant);
    const te::DagPtr dag = std::move(d).finish({d.reduce("y", {1, 3, 2, 5, 5}, {2, 3, 3, 3}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) {
      return x(s[0], r[0], s[2] * 2 + r[1], s[3] + r[2], s[4] + r[3]) * w(s[1], r[0], r[1], r[2], r[3]);
    })});
    Builder b(dag);
    b.winograd(2, 2);
    QCOMPARE(b.at(2).op.output->shape, (std::vector<int64_t>{1, 2, 5, 8, 8}));
    QCOMPARE(b.at(5).op.output->shape, (std::vector<int64_t>{4, 4, 1, 3, 2, 3, 3}));
    QCOMPARE(b.at(5).op.reduce_axes.size(), size_t{2});
    QCOMPARE(b.at(1).op.output->shape, (std::vector<int64_t>{3, 2, 3, 4, 4}));
    Builder flat(dag);
    flat.winograd(2, 2, true);
    QVERIFY(has(refusal(std::move(flat)), "Expected a two-dimensional convolution for tiles in one row for 'winograd', found 'y'"));
  }
  void refusals() {
    Builder strided(image(2));
    strided.winograd(2, 2);
    QVERIFY(has(refusal(std::move(strided)), "Expected a convolution over planes with stride 1 for 'winograd', found 'y'"));
    Builder tile(image());
    tile.winograd(2, 40);
    QVERIFY(has(refusal(std::move(tile)), "Expected a tile that a transform F(tile, 3) exists for, found 40"));
    Builder late(image());
    late.split(2, late.loops(2)[0], {1});
    late.winograd(2, 2);
    QVERIFY(has(refusal(std::move(late)), "Expected a stage without earlier steps for 'winograd', found 'y'"));
  }
};

QTEST_APPLESS_MAIN(WinogradTest)
#include "winograd_test.moc"
