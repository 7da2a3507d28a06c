// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/draft/draft.h"

#include <QtTest>
#include <cmath>

#include "engine/space/sketch/draw.h"
#include "tests/engine/cost/blocked_product.h"

using namespace tw;
using namespace tw::cost;
using schedule::Annotation;
using fixture::blocked_product, fixture::candidate, fixture::Candidate;

namespace {

double seconds(std::span<const DraftTime> times) {
  double sum = 0;
  for (const DraftTime& t : times) sum += std::max(t.arithmetic_s, t.memory_s);
  return sum;
}

}  // namespace

class DraftTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_product_as_the_release_counts_it();
  void few_blocks_of_few_threads();
  void what_does_not_fit_costs_the_most();
  void gpus_want_threads_and_neighbours();
  void processors_want_vectors_tiles_and_threads();
  void drawn_schedules_have_costs();
};

/// The worked example: 1024^3, 256 blocks of 256 threads, 4 x 4 results each.
void DraftTest::a_product_as_the_release_counts_it() {
  const Candidate c = candidate(blocked_product(1024, 8));
  const std::vector<Symbols> s = symbols_of(c.program, c.evaluated);
  QCOMPARE(s.size(), size_t{4});
  const auto sums = std::find_if(s.begin(), s.end(), [](const Symbols& x) { return x.thread_operations > 0; });
  QVERIFY(sums != s.end());
  QCOMPARE(sums->thread_operations, 4.0 * 4 * 1024 * 2);
  QCOMPARE(sums->operations, 2.0 * 1024 * 1024 * 1024);
  QCOMPARE(sums->registers, 24.0);
  QCOMPARE(sums->touched, 8208.0);
  QVERIFY(std::abs(sums->reuse - 4.992) < 1e-3);
  QCOMPARE(sums->moved, 0.0);
  QCOMPARE(std::count_if(s.begin(), s.end(), [](const Symbols& x) { return x.shared == 65536 && x.moved == 16777216; }), 2);
  QCOMPARE(s.back().moved, 1048576.0);
  for (const Symbols& x : s) {
    QCOMPARE(x.grid, 256.0);
    QCOMPARE(x.block, 256.0);
    QCOMPARE(x.is_gpu, 1.0);
  }
  const double ms = draft_ms(s, *find_draft_device("a100_40"));
  QVERIFY2(std::abs(ms - 0.18811) < 2e-5, qPrintable(QString::number(ms, 'g', 9)));
  QVERIFY(std::abs(1 / ms - 5.3160) < 1e-3);
  QCOMPARE(find_draft_device("voodoo2"), nullptr);
}

/// The second worked example: the sums alone, in 64 blocks of 40 threads.
void DraftTest::few_blocks_of_few_threads() {
  Symbols s{.thread_operations = 32768, .registers = 24, .touched = 8208, .is_gpu = 1, .grid = 64, .block = 40};
  s.operations = s.thread_operations * s.grid * s.block;
  s.reuse = 1 + s.thread_operations / s.touched;
  const double ms = draft_ms(std::span(&s, 1), *find_draft_device("a100_40"));
  QVERIFY2(std::abs(ms - 0.02790) < 1e-5, qPrintable(QString::number(ms, 'g', 9)));
}

void DraftTest::what_does_not_fit_costs_the_most() {
  const Target gpu = parse_target("cuda:a100").value();
  const Candidate fits = candidate(blocked_product(1024, 8)), deep = candidate(blocked_product(1024, 1024));  // 512 KiB of shared memory
  QVERIFY(std::isfinite(seconds(gpu_draft(fits.program, fits.evaluated, gpu))));
  QVERIFY(std::isinf(seconds(gpu_draft(deep.program, deep.evaluated, gpu))));
  QCOMPARE(draft_score(symbol_program(deep.program, deep.evaluated, gpu).values, nullptr), 0.0F);
  QVERIFY(draft_score(symbol_program(fits.program, fits.evaluated, gpu).values, nullptr) > 0);
}

void DraftTest::gpus_want_threads_and_neighbours() {
  const Target gpu = parse_target("cuda:a100").value();
  const auto cost = [&](int64_t threads, bool rows) {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {4096, 4096}, kFloat32);
    const te::Tensor y = tw::testing::dags::relu(d, x);
    schedule::Builder b(std::move(d).finish({y}));
    const int out = b.stage("relu");
    const auto axes = b.loops(out);
    const auto parts = b.split(out, rows ? axes[1] : axes[0], {threads});
    b.reorder(out, rows ? std::vector{axes[0], parts[0], parts[1]} : std::vector{axes[1], parts[0], parts[1]});
    const auto now = b.loops(out);
    b.bind(out, b.fuse(out, {now[0], now[1]}), Annotation::block_x);
    b.bind(out, b.loops(out)[1], Annotation::thread_x);
    const Candidate c = candidate(std::move(b).finish().value());
    return gpu_draft(c.program, c.evaluated, gpu).front();
  };
  QVERIFY(cost(256, true).memory_s < cost(256, false).memory_s / 2);  // neighbours lie side by side, or each in a sector of its own
  QVERIFY(std::abs(cost(8, true).arithmetic_s / cost(256, true).arithmetic_s - 4) < 0.1);  // a quarter of a warp
}

void DraftTest::processors_want_vectors_tiles_and_threads() {
  Target cpu = parse_target("llvm -mcpu=haswell -num-cores=4").value();
  const auto cost = [&](int64_t rows, int64_t columns, bool vectors, bool threads) {
    schedule::Builder b(tw::testing::dags::matmul(256, 256, 256));
    const int c = b.stage("matmul");
    const auto axes = b.loops(c);
    const auto i = b.split(c, axes[0], {rows}), j = b.split(c, axes[1], {columns});
    b.reorder(c, {i[0], j[0], axes[2], i[1], j[1]});
    b.unroll(c, i[1]);
    if (vectors) b.vectorize(c, j[1]);
    if (threads) b.parallel(c, i[0]);
    const Candidate made = candidate(std::move(b).finish().value());
    return seconds(cpu_draft(made.program, made.evaluated, cpu));
  };
  const double good = cost(4, 16, true, true);
  QVERIFY(good < cost(4, 16, false, true) / 2);   // scalars
  QVERIFY(good < cost(4, 16, true, false) / 2);   // one thread
  QVERIFY(good < cost(1, 8, true, true) / 1.5);   // one sum at a time waits for itself
  QVERIFY(good < cost(16, 64, true, true) / 1.5); // 128 sums of 16 registers
  QVERIFY(good < cost(4, 12, true, true));        // half a vector is empty
}

/// Every schedule that can be drawn has a row for each stage that stores, by the program and by lowering alike.
void DraftTest::drawn_schedules_have_costs() {
  for (const char* text : {"llvm -mcpu=znver4", "cuda:a100"}) {
    const Target target = parse_target(text).value();
    Rng rng(3);
    int seen = 0;
    for (const auto& sample : tw::testing::sample_dags()) {
      const auto sketches = space::sketches(sample.dag, target, {});
      for (int k = 0; k < 3; ++k) {
        const auto s = space::random_schedule(sketches[rng.uniform(sketches.size())], target, {}, rng);
        if (!s) continue;
        const auto rows = symbol_features({.dag = sample.dag, .target = target, .steps = &s->steps()});
        if (!rows) continue;
        ++seen;
        QCOMPARE(rows->columns(), kDraftColumns);
        for (const float v : rows->values) QVERIFY(!std::isnan(v) && v >= 0);
        const float score = draft_score(rows->values, nullptr);
        QVERIFY(std::isfinite(score));
      }
    }
    QVERIFY(seen > 30);
  }
}

QTEST_APPLESS_MAIN(DraftTest)
#include "draft_test.moc"
