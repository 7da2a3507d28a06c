// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class Im2colTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Rows are places of the window; what is rounded up reads nothing; a tile of the result that is one loop over places asks for a tile of the product.
  void with_terms_apart() {
    Builder b(convolution());
    const int first = b.im2col(2, b.loops(2)[4], 16, 4, 2);
    QVERIFY(b.ok());
    QCOMPARE(first, 2);
    const std::vector<std::vector<int64_t>> shapes{{4, 3, 2, 32}, {4, 3, 2, 8}, {8, 32}, {2, 5, 4, 4}};
    for (size_t k = 0; k < shapes.size(); ++k) QCOMPARE(b.at(first + static_cast<int>(k)).op.output->shape, shapes[k]);
    QCOMPARE(b.at(4).op.name, std::string("y_product"));
    const int out = 5;
    const std::vector<ir::Var> l = b.loops(out);
    b.reorder(out, {l[0], l[2], l[3], l[1]});
    const auto p = b.split(out, b.fuse(out, {l[0], l[2], l[3]}), {8});
    b.compute_at(4, out, p[0]);
    b.reorder(4, {b.loops(4)[1], b.loops(4)[0], b.loops(4)[2], b.loops(4)[3], b.loops(4)[4]});
    b.compute_at(2, 4, b.loops(4)[2]);
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "y_product = T.alloc_buffer(("));
    QVERIFY(has(text, "y_col = T.alloc_buffer((1, 1, 3, 2)"));  // the taps of a place and a channel
  }

  void of_terms_refusals() {
    const auto of = [](Builder b, size_t loop, int64_t pixels = 4) {
      b.im2col(2, b.loops(2)[loop], pixels, 4, 4);
      return refusal(std::move(b));
    };
    QVERIFY(has(of(Builder(convolution()), 0), "Expected a loop of the reduction to round up for 'im2col', found 'i' of stage 'y'"));
    QVERIFY(has(of(Builder(convolution()), 4, 0), "Expected multiples of 1 to 1048576 for 'im2col', and of 1 without a term, found 0"));
    Builder most(convolution());
    most.im2col(2, most.loops(2)[4], int64_t{1} << 20, 4, 4);
    QVERIFY(most.ok());
    QCOMPARE(most.at(4).op.output->shape[1] % (int64_t{1} << 20), int64_t{0});
    QVERIFY(has(of(Builder(convolution()), 4, (int64_t{1} << 20) + 1), "and of 1 without a term, found 1048577"));
  }

  void makes_a_product_of_matrices() {
    Builder b(windows());
    QCOMPARE(b.im2col(2), 2);
    QCOMPARE(b.num_stages(), 6);
    QCOMPARE(b.at(2).op.name, std::string("y_col"));
    QCOMPARE(b.at(2).op.output->shape, (std::vector<int64_t>{9, 8}));
    QCOMPARE(b.at(3).op.output->shape, (std::vector<int64_t>{9, 4}));
    QCOMPARE(b.at(4).op.output->shape, (std::vector<int64_t>{4, 8}));
    QCOMPARE(b.at(5).op.name, std::string("y"));
    // Rows of the product that fused loops walk along are one run again: a tile of 4 pixels needs 4 sums, across the end of an image too.
    const auto l = b.loops(5);
    b.reorder(5, {l[1], l[0], l[2]});
    const auto p = b.split(5, b.fuse(5, {l[0], l[2]}), {4});
    b.compute_at(4, 5, p[0]);
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "y_product = T.alloc_buffer((1, 4)"));
  }

  void refusals() {
    Builder grouped(windows(true));
    grouped.im2col(2);
    QVERIFY(has(refusal(std::move(grouped)), "Expected operands that share no axis of the result, as they do in groups, for 'im2col', found 'y'"));
    Builder sums(row_sums());
    sums.im2col(1);
    QVERIFY(has(refusal(std::move(sums)), "Expected a sum of products of two arrays for 'im2col', found 'row_sum'"));
    Builder late(windows());
    late.split(2, late.loops(2)[0], {2});
    late.im2col(2);
    QVERIFY(has(refusal(std::move(late)), "Expected a stage without earlier steps for 'im2col', found 'y'"));
  }
};

QTEST_APPLESS_MAIN(Im2colTest)
#include "im2col_test.moc"
