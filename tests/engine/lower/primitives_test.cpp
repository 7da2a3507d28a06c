// SPDX-License-Identifier: Apache-2.0
// What single primitives make of a dag, as loops, and what they refuse. That results stay the same is random_schedule_test's to show.
#include <QtTest>

#include "engine/lower/loop_nest.h"
#include "engine/lower/lower.h"
#include "engine/schedule/schedule.h"
#include "engine/te/dag.h"
#include "engine/tir/print.h"
#include "engine/tir/visit.h"

using namespace tw;
using schedule::Annotation;
using schedule::Builder;

class PrimitivesTest : public QObject {
  Q_OBJECT

  /// y[i] = relu(sum over r0, r1 of x[i, r0, r1]); stages: 0 x, 1 row_sum, 2 relu.
  static te::DagPtr row_sums(te::Reducer reducer = te::Reducer::sum) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {6, 7, 4}, kFloat32);
    const te::Tensor s = b.reduce("row_sum", {6}, {7, 4}, reducer, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0], r[1]); });
    const te::Tensor y = b.compute("relu", {6}, [&](const te::Indices& i) { return ir::max(s.at(i), ir::fimm(kFloat32, 0)); });
    return std::move(b).finish({y});
  }
  /// c = a * b, 10 by 12; stages: 0 a, 1 b, 2 c.
  static te::DagPtr product() {
    te::DagBuilder d;
    const te::Tensor a = d.placeholder("a", {10, 8}, kFloat32), b = d.placeholder("b", {8, 12}, kFloat32);
    const te::Tensor c =
        d.reduce("c", {10, 12}, {8}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return a(s[0], r[0]) * b(r[0], s[1]); });
    return std::move(d).finish({c});
  }
  static std::string lowered(Builder b) {
    const schedule::Schedule s = std::move(b).finish().value();
    const auto f = lower::lower(s, "f");
    return f ? tir::print(*f) : f.error().text();
  }
  static std::string optimized(Builder b) {
    const schedule::Schedule s = std::move(b).finish().value();
    tir::PassHooks hooks;
    hooks.verify = true;
    const auto f = lower::lower_and_optimize(s, "f", Target(), hooks);
    return f ? tir::print(*f) : f.error().text();
  }
  static bool has(const std::string& text, const char* part) {
    if (text.find(part) != std::string::npos) return true;
    qWarning("%s\nlacks: %s", text.c_str(), part);
    return false;
  }
  /// The error of finish() or, where the steps are legal, of lowering.
  static std::string refusal(Builder b) {
    const auto s = std::move(b).finish();
    if (!s) return s.error().text();
    const auto f = lower::lower(*s, "f");
    return f ? "" : f.error().text();
  }

  /// y[n, o, h, w]: a convolution with 3 x 2 taps and stride 2; stages: 0 x, 1 w, 2 y.
  static te::DagPtr convolution() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {2, 3, 9, 8}, kFloat32), w = d.placeholder("w", {5, 3, 3, 2}, kFloat32);
    return std::move(d).finish({d.reduce("y", {2, 5, 4, 4}, {3, 3, 2}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) {
      return x(s[0], r[0], s[2] * 2 + r[1], s[3] * 2 + r[2]) * w(s[1], r[0], r[1], r[2]);
    })});
  }

 private Q_SLOTS:
  /// Rows are places of the window; what is rounded up reads nothing; a tile of the result that is one loop over places asks for a tile of the product.
  void im2col_with_terms_apart() {
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
  void im2col_of_terms_refusals() {
    const auto of = [](Builder b, size_t loop, int64_t pixels = 4) {
      b.im2col(2, b.loops(2)[loop], pixels, 4, 4);
      return refusal(std::move(b));
    };
    QVERIFY(has(of(Builder(convolution()), 0), "Expected a loop of the reduction to round up for 'im2col', found 'i' of stage 'y'"));
    QVERIFY(has(of(Builder(convolution()), 4, 0), "Expected multiples of 1 to 1048576 for 'im2col', and of 1 without a term, found 0"));
  }

  void rfactor_makes_lanes_of_a_reduction() {
    Builder b(row_sums());
    const auto r = b.split(1, b.loops(1)[1], {2});
    const int rf = b.rfactor(1, r[1]);
    QCOMPARE(rf, 1);
    QCOMPARE(b.at(1).op.name, std::string("row_sum_rf"));
    QCOMPARE(b.at(1).op.output->shape, (std::vector<int64_t>{2, 6}));
    const auto loops = b.loops(1);  // lane, i, r0_0, r1
    b.reorder(1, {loops[1], loops[2], loops[3], loops[0]});
    b.vectorize(1, loops[0]);
    b.parallel(1, loops[1]);
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "T.parallel(6)"));
    QVERIFY(has(text, "select("));  // r0 = 7 is odd: the last lane's surplus term is 0
    QVERIFY(has(text, "row_sum_rf[T.ramp(i, 6, 2)] = row_sum_rf[T.ramp(i, 6, 2)] + "));
  }
  void rfactor_starts_from_the_identity() {
    for (const auto& [reducer, text] :
         {std::pair(te::Reducer::max, "max(row_sum[i_1], row_sum_rf[i_1, "), std::pair(te::Reducer::prod, "row_sum[i_1] * row_sum_rf[i_1, ")}) {
      Builder b(row_sums(reducer));
      const auto loops = b.loops(1);
      b.rfactor(1, loops[2], 1);
      QVERIFY(has(lowered(std::move(b)), text));
    }
  }
  void rfactor_refusals() {
    Builder spatial(row_sums());
    spatial.rfactor(1, spatial.loops(1)[0]);
    QVERIFY(has(refusal(std::move(spatial)), "Expected a reduction loop for 'rfactor', found the spatial loop 'i' of stage 'row_sum'"));
    Builder late(row_sums());
    late.split(1, late.loops(1)[0], {2});
    late.rfactor(1, late.loops(1)[2]);
    QVERIFY(has(refusal(std::move(late)), "Expected 'rfactor' before the spatial loops of 'row_sum' are split"));
    Builder position(row_sums());
    position.rfactor(1, position.loops(1)[1], 2);
    QVERIFY(has(refusal(std::move(position)), "Expected a position of 0 to 1 for the new axis of 'row_sum'"));
  }

  /// Stages: 0 x, 1 w, 2 y.
  static te::DagPtr windows(bool grouped = false) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {2, 3, 9}, kFloat32), w = b.placeholder("w", {4, 3, 3}, kFloat32, te::Role::constant);
    const auto at = [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] * 2 + r[1]) * w(grouped ? s[0] : s[1], r[0], r[1]); };
    return std::move(b).finish({b.reduce("y", {2, 4, 4}, {3, 3}, te::Reducer::sum, at, "conv1d")});
  }
  void im2col_makes_a_product_of_matrices() {
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
  void im2col_refusals() {
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
  void storage_align_leaves_gaps() {
    Builder b(product());
    const int cache = b.cache_read(1, {2}, "global");
    b.storage_align(cache, b.loops(cache)[0], 16, 3);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "T.alloc_buffer((152,)"));  // 8 rows of 12, 19 apart
    QVERIFY(has(text, " * 19 + "));
  }
  void storage_align_refusals() {
    Builder output(product());
    output.storage_align(2, output.loops(2)[0], 16, 0);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'storage_align', found 'c'"));
    Builder reduction(product());
    reduction.storage_align(2, reduction.loops(2)[2], 16, 0);
    QVERIFY(has(refusal(std::move(reduction)), "found the reduction axis 'r0' of stage 'c'"));
    Builder split(product());
    const auto part = split.split(2, split.loops(2)[0], {2});
    split.storage_align(2, part[0], 16, 0);
    QVERIFY(has(refusal(std::move(split)), "Expected a loop over a whole axis"));
    Builder offset(row_sums());
    offset.storage_align(1, offset.loops(1)[0], 4, 4);
    QVERIFY(has(refusal(std::move(offset)), "Expected a factor of 1 to 2^20 and an offset below it"));
  }

  /// A tile that does not divide the extent: with both the packed operand and the accumulator padded no guard is left in the reduction.
  void pad_makes_guards_vanish() {
    const auto build = [](bool padded) {
      Builder b(product());
      const int pack = b.cache_read(0, {2}, "global");
      const int acc = b.cache_write(3);
      const int out = acc + 1;
      if (padded) {
        b.pad(pack, b.loops(pack)[0], 4);
        b.pad(acc, b.loops(acc)[0], 4);
      }
      const auto rows = b.split(out, b.loops(out)[0], {4});
      b.compute_at(acc, out, rows[0]);
      const auto l = b.loops(acc);
      b.reorder(acc, {l[2], l[0], l[1]});
      return b;
    };
    const auto guards = [](Builder b) {
      const auto f = lower::lower(std::move(b).finish().value(), "f").value();
      int found = 0;
      tir::walk(f.body, [&](const tir::Stmt& s) {
        if (const auto* n = tir::as<tir::ForNode>(s); n && n->var->name == "r0")
          tir::walk(n->body, [&](const tir::Stmt& x) { found += tir::as<tir::IfNode>(x) != nullptr; });
      });
      return found;
    };
    QCOMPARE(guards(build(false)), 1);
    QCOMPARE(guards(build(true)), 0);
    const std::string text = lowered(build(true));
    QVERIFY(has(text, "a_global = T.alloc_buffer((12, 8)"));
    QVERIFY(has(text, "= select(c0 < 10, a[c0, c1], T.float32(0))"));
    QVERIFY(text.find("select(i") == std::string::npos);  // the accumulator reads the padded panel, so its own test is gone
  }
  void pad_keeps_the_test_where_reads_would_leave_the_array() {
    Builder b(product());
    const int acc = b.cache_write(2);
    b.pad(acc, b.loops(acc)[1], 8);
    b.pad(acc, b.loops(acc)[2], 3);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "c_local = T.alloc_buffer((10, 16)"));
    QVERIFY(has(text, "select(r0 < 8, select(j < 12, a[i, r0] * b[r0, j], T.float32(0)), T.float32(0))"));
  }
  void pad_refusals() {
    Builder output(product());
    output.pad(2, output.loops(2)[0], 4);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'pad', found 'c' with axis 'i'"));
    Builder input(product());
    schedule::Schedule s = std::move(input).finish().value();
    QVERIFY(has(s.apply(schedule::PadStep{0, 0, 4}).error().text(), "found the placeholder 'a'"));
  }

  void double_buffer_runs_ahead() {
    Builder b(product());
    const int tile = b.cache_read(0, {2});
    const auto loops = b.loops(3);
    b.reorder(3, {loops[2], loops[0], loops[1]});
    b.compute_at(tile, 3, loops[2]);
    b.double_buffer(tile);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "a_local = T.alloc_buffer((2, "));
    QVERIFY(has(text, "if r0 + 1 < 8:"));
    QVERIFY(has(text, "a_local[(r0 + 1) % 2, "));
    QVERIFY(has(text, "a_local[r0 % 2, "));
  }
  void double_buffer_refusals() {
    Builder root(row_sums());
    root.double_buffer(1);
    QVERIFY(has(refusal(std::move(root)), "Expected a stage that is computed inside a loop for 'double_buffer', found 'row_sum'"));
    Builder parallel(row_sums());
    const ir::Var i = parallel.loops(2)[0];
    parallel.compute_at(1, 2, i);
    parallel.double_buffer(1);
    parallel.parallel(2, i);
    QVERIFY(has(refusal(std::move(parallel)), "Expected a serial or unrolled loop around 'row_sum' for 'double_buffer', found 'i' of 'relu' with 'parallel'"));
    Builder chain(row_sums());
    const int cache = chain.cache_read(0, {1});
    chain.compute_at(2, 3, chain.loops(3)[0]);
    chain.compute_at(cache, 3, chain.loops(3)[0]);
    chain.double_buffer(2);
    QVERIFY(
        has(refusal(std::move(chain)), "Expected 'row_sum' to read nothing that is computed inside loop 'i' of 'relu' for 'double_buffer', found 'x_local'"));
  }

  void bind_makes_bound_loops() {
    Builder b(product());
    const auto rows = b.split(2, b.loops(2)[0], {5});
    b.bind(2, rows[0], Annotation::block_x);
    b.bind(2, rows[1], Annotation::thread_x);
    QVERIFY(has(lower::print_loops(std::move(Builder(b)).finish().value()), "for i_0 in 2 [blockIdx.x]"));
    const std::string text = optimized(std::move(b));
    QVERIFY(has(text, "for i_0 in T.thread_binding(2, thread=\"blockIdx.x\"):"));
    QVERIFY(has(text, "for i_1 in T.thread_binding(5, thread=\"threadIdx.x\"):"));
  }
  void bind_refusals() {
    Builder reduction(product());
    reduction.bind(2, reduction.loops(2)[2], Annotation::block_x);
    QVERIFY(has(refusal(std::move(reduction)), "Expected a spatial loop for 'blockIdx.x', found the reduction loop 'r0' of stage 'c'"));
    Builder twice(product());
    twice.bind(2, twice.loops(2)[0], Annotation::thread_x);
    twice.bind(2, twice.loops(2)[1], Annotation::thread_x);
    QVERIFY(has(refusal(std::move(twice)), "Expected threadIdx.x to be bound once in stage 'c', found 'i' bound to it before 'j'"));
    Builder order(product());
    order.bind(2, order.loops(2)[0], Annotation::thread_x);
    order.bind(2, order.loops(2)[1], Annotation::block_x);
    QVERIFY(has(refusal(std::move(order)), "Expected blocks outside of threads, found 'j' of 'c' bound to blockIdx.x inside 'i' of 'c' bound to threadIdx.x"));
    Builder nested(row_sums());
    const ir::Var outer = nested.loops(2)[0];
    nested.bind(2, outer, Annotation::thread_x);
    const int cache = nested.cache_read(0, {1});
    nested.compute_at(2, 3, outer);
    nested.compute_at(cache, 3, outer);
    nested.bind(cache, nested.loops(cache)[1], Annotation::thread_x);
    QVERIFY(has(refusal(std::move(nested)),
                "Expected threadIdx.x to be bound once along the loops around 'x_local', found 'c1' of 'x_local' inside 'i' of 'relu'"));
  }
};

QTEST_APPLESS_MAIN(PrimitivesTest)
#include "primitives_test.moc"
