// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/store_costs.h"

#include <QtTest>
#include <set>
#include <cmath>

#include "engine/cost/features/loop_touches.h"
#include "engine/space/sketch/draw.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::cost;

namespace {

float log_of(double x) { return log_scaled(x); }

FeatureRows of(const schedule::Schedule& s, StoreDialect dialect) {
  const space::Program p = space::Program::make(s.dag(), s.steps()).value();
  return store_costs(p, p.evaluate(space::numbers_of(s.steps())).value(), dialect);
}

std::vector<float> row(const FeatureRows& rows, size_t i) {
  const auto begin = rows.values.begin() + static_cast<std::ptrdiff_t>(i * rows.columns());
  return {begin, begin + static_cast<std::ptrdiff_t>(rows.columns())};
}

std::vector<float> array(const std::vector<float>& row, size_t i) {
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(kAnsorFirstArray + i * kAnsorArrayColumns);
  return {begin, begin + static_cast<std::ptrdiff_t>(kAnsorArrayColumns)};
}

/// c[i, j] = sum over k of a[i, k] w[k, j]: loops i0 (32), j0 (64), k (512), j1 (8), i1 (16).
schedule::Schedule tiled_product() {
  schedule::Builder b(tw::testing::dags::matmul(512, 512, 512));
  const int c = b.stage("matmul");
  const auto loops = b.loops(c);
  const auto i = b.split(c, loops[0], {16}), j = b.split(c, loops[1], {8});
  b.reorder(c, {i[0], j[0], loops[2], j[1], i[1]});
  return std::move(b).finish().value();
}

constexpr double kRuns = 512.0 * 512 * 512;

}  // namespace

class StoreCostsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void columnsHaveNames() {
    std::set<std::string> names;
    for (size_t k = 0; k < kAnsorColumns; ++k) names.insert(store_column_name(k));
    QCOMPARE(names.size(), kAnsorColumns);
    QCOMPARE(store_column_name(2), std::string("multiplications on floats"));
    QCOMPARE(store_column_name(kAnsorFirstArray + kAnsorArrayColumns + 3), std::string("array 2: bytes"));
    QCOMPARE(store_column_name(kAnsorColumns - 1), std::string("stores up to which loops are written out"));
  }
  void aProductAsTvmCountsIt();
  void aProductAsTenSetCountsIt();
  void reuseOverSeveralLoops();
  void aStageInALoopOfItsReader();
  void marksAndThreads();
  void layoutsAreSeen();
  void theSameByProgramAndByLowering();
};

void StoreCostsTest::aProductAsTvmCountsIt() {
  const FeatureRows rows = of(tiled_product(), StoreDialect::tvm);
  QCOMPARE(rows.count, size_t{1});
  QCOMPARE(rows.columns(), kAnsorColumns);
  const std::vector<float> r = row(rows, 0);
  // One product and one addition on floats a run; four of the indices are i0 * 16 + i1 or j0 * 8 + j1.
  QCOMPARE(std::vector<float>(r.begin(), r.begin() + 16),
           (std::vector<float>{0, log_of(kRuns), log_of(kRuns), 0, 0, 0, 0, 0, log_of(4 * kRuns), log_of(4 * kRuns), 0, 0, 0, 0, 0, 0}));
  for (const size_t first : {16, 27, 38}) {  // no loop has a mark
    QCOMPARE(r[first], 0.0F);
    QCOMPARE(r[first + 3], 1.0F);
    QCOMPARE(r[first + 10], 0.0F);
  }
  QCOMPARE(std::vector<float>(r.begin() + 49, r.begin() + 57), (std::vector<float>{0, 1, 1, 1, 1, 1, 1, 1}));

  const double all = 512.0 * 512 * 4, bytes = kRuns * 4;
  // c: each step of i1 is another line; what a tile of 16 x 8 reads is used again in the next of 512 steps of k.
  QCOMPARE(array(r, 0), (std::vector<float>{0, 0, 1, log_of(bytes), log_of(all), log_of(kRuns), log_of(all / 64), 1, 0, 0, log_of(8 * 16),
                                            log_of((8 * 16 + 8 + 16) * 4), log_of(512), log_of(bytes / 512), log_of(all / 512), log_of(kRuns / 512),
                                            log_of(all / 64 / 512), log_of(512)}));
  // a: j1 does not move it, so 16 rows are used in its 8 steps.
  QCOMPARE(array(r, 1), (std::vector<float>{1, 0, 0, log_of(bytes), log_of(all), log_of(kRuns), log_of(all / 64), 1, 0, 0, log_of(16), log_of((16 + 16 + 1) * 4),
                                            log_of(8), log_of(bytes / 8), log_of(all / 8), log_of(kRuns / 8), log_of(all / 64 / 8), log_of(512)}));
  // w: the innermost loop does not move it; the next one by one element.
  QCOMPARE(array(r, 2), (std::vector<float>{1, 0, 0, log_of(bytes), log_of(all), log_of(kRuns / 16 / 16), log_of(all / 64), 1, 0, 0, log_of(1), log_of(12),
                                            log_of(16), log_of(bytes / 16), log_of(all / 16), log_of(kRuns / 16 / 16 / 16), log_of(all / 64 / 16), 0}));
  QCOMPARE(array(r, 3), std::vector<float>(kAnsorArrayColumns, 0));
  // Bytes of the loops from the inside: 132, 608, ...; 2 operations a run.
  QCOMPARE(r[kAnsorCurve], static_cast<float>(5 / std::log2(132.0)));
  QCOMPARE(r[kAnsorCurve + 9], static_cast<float>(28 / std::log2(3 * all)));
  const double inner = 5 / std::log2(132.0), next = 8 / std::log2(608.0);
  QVERIFY(std::abs(r[kAnsorCurve + 1] - static_cast<float>(inner + (next - inner) / 3 * (5.6 - 5))) < 1e-5);
  QCOMPARE(std::vector<float>(r.begin() + 157, r.end()), (std::vector<float>{0, 0, 0, 0, log_of(kRuns), log_of(5), 0}));
}

/// The nearest array first.
void StoreCostsTest::aProductAsTenSetCountsIt() {
  const std::vector<float> tvm = row(of(tiled_product(), StoreDialect::tvm), 0), tenset = row(of(tiled_product(), StoreDialect::tenset), 0);
  QCOMPARE(array(tenset, 0), array(tvm, 2));
  QCOMPARE(array(tenset, 1), array(tvm, 1));
  QCOMPARE(array(tenset, 2), array(tvm, 0));
  QCOMPARE(tenset[0], tvm[0]);
}

/// y[i, j, k] = x[k] + 1: two loops in turn do not move x.
void StoreCostsTest::reuseOverSeveralLoops() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {16}, kFloat32);
  const te::Tensor y = b.compute("y", {4, 8, 16}, [&](const te::Indices& i) { return x(i[2]) + ir::fimm(kFloat32, 1); });
  const schedule::Schedule s(std::move(b).finish({y}));
  const std::vector<float> tvm = row(of(s, StoreDialect::tvm), 0), tenset = row(of(s, StoreDialect::tenset), 0);
  // Both move a quarter of a line a step; y has no reuse, and comes first in both.
  QCOMPARE(array(tvm, 0)[1], 1.0F);
  QCOMPARE(array(tvm, 0)[9], 1.0F);
  QCOMPARE(array(tvm, 1)[12], log_of(8));
  QCOMPARE(array(tenset, 1)[12], log_of(8 * 4));
  QCOMPARE(array(tvm, 1)[17], log_of(1));
}

/// A product of 4 x 8 x 16 computed in the rows of what reads it.
void StoreCostsTest::aStageInALoopOfItsReader() {
  te::DagBuilder d;
  const te::Tensor a = d.placeholder("a", {4, 16}, kFloat32), w = d.placeholder("w", {16, 8}, kFloat32);
  const te::Tensor c = tw::testing::dags::product(d, a, w);
  const te::Tensor y = tw::testing::dags::relu(d, c);
  schedule::Builder b(std::move(d).finish({y}));
  const int matmul = b.stage("matmul"), relu = b.stage("relu");
  b.compute_at(matmul, relu, b.loops(relu)[0]);
  const FeatureRows rows = of(std::move(b).finish().value(), StoreDialect::tvm);
  QCOMPARE(rows.count, size_t{2});
  const std::vector<float> product = row(rows, 0), reader = row(rows, 1);
  // One row of 8 floats for each of 4 rows; 16 x 8 runs in each.
  QCOMPARE(std::vector<float>(product.begin() + 157, product.end()), (std::vector<float>{log_of(32), log_of(32), log_of(4), log_of(128), log_of(512), log_of(3), 0}));
  QCOMPARE(std::vector<float>(reader.begin() + 157, reader.end()), (std::vector<float>{0, 0, 0, 0, log_of(32), log_of(2), 0}));
  QCOMPARE(reader[4], log_of(32));  // a maximum is a comparison
  // Its zeros, its sums and the reader touch the product in the loop over rows: 32 elements each, beside 64, 128 and 32 of a, w and the result.
  const std::vector<float> read = array(reader, 1);
  QCOMPARE(read[0], 1.0F);
  QCOMPARE(read[8], 1.0F);
  QCOMPARE(read[10], log_of(32 / 4));
  QCOMPARE(read[11], log_of((3 * 32 + 64 + 128 + 32) * 4 / 4));
  QCOMPARE(read[12], log_of(2));
}

void StoreCostsTest::marksAndThreads() {
  te::DagBuilder d;
  const te::Tensor x = d.placeholder("x", {16, 8, 64}, kFloat32);
  const auto dag = std::move(d).finish({tw::testing::dags::relu(d, x)});
  {
    schedule::Builder b(dag);
    const int y = b.stage("relu");
    const auto loops = b.loops(y);
    b.parallel(y, loops[0]);
    b.unroll(y, loops[1]);
    const auto parts = b.split(y, loops[2], {16});
    b.vectorize(y, parts[1]);
    const std::vector<float> r = row(of(std::move(b).finish().value(), StoreDialect::tvm), 0);
    for (const auto& [first, n] : {std::pair<size_t, double>{16, 16}, {27, 8}, {38, 16}}) {
      QCOMPARE(std::vector<float>(r.begin() + static_cast<std::ptrdiff_t>(first), r.begin() + static_cast<std::ptrdiff_t>(first) + 11),
               (std::vector<float>{1, log_of(n), log_of(n), 0, 0, 0, 0, 0, 0, 0, 1}));
    }
    QCOMPARE(r[49], 0.0F);
  }
  schedule::Builder b(dag);
  const int y = b.stage("relu");
  const auto loops = b.loops(y);
  b.bind(y, loops[0], schedule::Annotation::block_x);
  b.bind(y, loops[1], schedule::Annotation::vthread);
  b.bind(y, loops[2], schedule::Annotation::thread_x);
  const std::vector<float> r = row(of(std::move(b).finish().value(), StoreDialect::tvm), 0);
  QCOMPARE(std::vector<float>(r.begin() + 49, r.begin() + 57), (std::vector<float>{1, log_of(16), 1, 1, log_of(64), 1, 1, log_of(8)}));
}

/// Weights in blocks of 16 are read without gaps by what runs over them.
void StoreCostsTest::layoutsAreSeen() {
  const auto stride = [](bool blocked) {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {8, 64}, kFloat32), w = d.placeholder("w", {32, 64}, kFloat32, te::Role::constant);
    const te::Tensor y = d.reduce("y", {8, 32}, {64}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); });
    schedule::Builder b(std::move(d).finish({y}));
    if (blocked) b.layout(1, {{0, 0}, {1, 0}, {0, 16}});
    const int stage = b.stage("y");
    const auto loops = b.loops(stage);
    b.reorder(stage, {loops[0], loops[2], loops[1]});
    const std::vector<float> r = row(of(std::move(b).finish().value(), StoreDialect::tvm), 0);
    float most = 0;
    for (size_t k = 0; k < 3; ++k)
      if (array(r, k)[0] == 1) most = std::max(most, array(r, k)[17]);
    return most;
  };
  QCOMPARE(stride(false), log_of(64));
  QCOMPARE(stride(true), log_of(1));
}

/// What a search takes from a program is what the features of the steps are.
void StoreCostsTest::theSameByProgramAndByLowering() {
  int compared = 0;
  for (const bool gpu : {false, true}) {
    const Target target = gpu ? parse_target("cuda:a100").value() : Target();
    for (const auto& sample : tw::testing::sample_dags()) {
      const std::vector<space::Sketch> all = space::sketches(sample.dag, target);
      for (uint64_t seed = 0; seed < 12; ++seed) {
        Rng rng(seed);
        const auto s = space::random_schedule(all[seed % all.size()], target, {.uneven = 0.3}, rng);
        if (!s) continue;
        const auto program = space::Program::make(sample.dag, s->steps());
        if (!program) continue;
        const auto e = program->evaluate(space::numbers_of(s->steps()));
        QVERIFY(e);
        const auto slow = ansor_features({.dag = sample.dag, .target = target, .steps = &s->steps()});
        if (!e->exact) continue;
        QCOMPARE(slow.has_value(), program->check(*e, target).has_value());
        if (!slow) continue;
        QCOMPARE(slow->values, ansor_program(*program, *e, target).values);
        QCOMPARE(slow->columns(), kAnsorColumns);
        QVERIFY(std::all_of(slow->values.begin(), slow->values.end(), [](float x) { return std::isfinite(x); }));
        ++compared;
      }
    }
  }
  QVERIFY2(compared > 200, qPrintable(QString::number(compared)));
}

QTEST_APPLESS_MAIN(StoreCostsTest)
#include "store_costs_test.moc"
