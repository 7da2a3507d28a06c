// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/pam.h"

#include <QtTest>

#include "engine/cost/features/store_costs.h"
#include "tests/engine/cost/blocked_product.h"

using namespace tw;
using namespace tw::cost;

class PamFeatureTest : public QObject {
  Q_OBJECT

  static const Target& target() {
    static const Target kTarget = parse_target("cuda:a100").value();
    return kTarget;
  }
  static std::span<const float> row(const FeatureRows& rows, size_t r) { return {rows.values.data() + r * kPamColumns, kPamColumns}; }
  /// Which of three flags is set.
  static int one_of(std::span<const float> flags) { return static_cast<int>(std::find(flags.begin(), flags.begin() + 3, 1.0F) - flags.begin()); }

 private Q_SLOTS:
  /// TenSet's numbers, then what kind of task it is.
  void statementsAreTenSets() {
    const fixture::Candidate c = fixture::candidate(fixture::blocked_product(1024, 8));
    const FeatureRows tenset = tenset_program(c.program, c.evaluated, target()), all = pam_program(c.program, c.evaluated, target());
    QCOMPARE(all.count, tenset.count + learner::kPatternRows);
    for (size_t r = 0; r < tenset.count; ++r) {
      QCOMPARE(row(all, r)[0], 0.0F);
      for (size_t k = 0; k < kAnsorColumns; ++k) QCOMPARE(row(all, r)[1 + k], tenset.values[r * kAnsorColumns + k]);
      QCOMPARE(row(all, r)[1 + kAnsorColumns + 0], 0.0F);  // nothing is compared
      QCOMPARE(row(all, r)[1 + kAnsorColumns + 9], 0.0F);
      for (size_t k = 1 + learner::kStatementColumns; k < kPamColumns; ++k) QCOMPARE(row(all, r)[k], 0.0F);
    }
  }
  /// The sum begins, both operands come from global memory to shared memory, and are summed up: where each array lies, whether it is written, and what is done.
  void theStepsOfATiledProduct() {
    const fixture::Candidate c = fixture::candidate(fixture::blocked_product(1024, 8));
    const FeatureRows all = pam_program(c.program, c.evaluated, target());
    const std::array<int, 8> places = {2, 0, 1, 0, 1, 1, 1, 2}, accesses = {1, 0, 1, 0, 1, 0, 0, 2};
    for (size_t k = 0; k < learner::kPatternRows; ++k) {
      const std::span<const float> r = row(all, all.count - learner::kPatternRows + k);
      QCOMPARE(r[0], 1.0F);
      for (size_t n = 1; n <= learner::kStatementColumns; ++n) QCOMPARE(r[n], 0.0F);
      const std::span<const float> step = r.subspan(1 + learner::kStatementColumns);
      QCOMPARE(one_of(step.subspan(1)), places[k]);
      QCOMPARE(one_of(step.subspan(4)), accesses[k]);
      const bool sums = k >= 5;
      QCOMPARE(step[0], sums ? static_cast<float>(std::log2(2.0 * 1024 * 1024 * 1024 + 1)) : 0.0F);
      QCOMPARE(step[22] > 0, places[k] != 0);  // what is kept for it; arguments are nobody's
    }
  }
  /// A product without shared memory has no such steps; a bias and an activation have flags.
  void otherProgramsHaveNone() {
    const schedule::Schedule plain(tw::testing::dags::matmul(64, 64, 64));
    const fixture::Candidate c = fixture::candidate(plain);
    const FeatureRows all = pam_program(c.program, c.evaluated, target());
    QCOMPARE(all.count, size_t{1});
    QCOMPARE(row(all, 0)[0], 0.0F);

    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {64}, kFloat32), y = b.placeholder("y", {64}, kFloat32);
    const te::DagPtr dag = std::move(b).finish({b.compute("relu", {64}, [&](const te::Indices& i) { return ir::max(x.at(i) + y.at(i), ir::fimm(kFloat32, 0)); })});
    const fixture::Candidate relu = fixture::candidate(schedule::Schedule(dag));
    const FeatureRows rows = pam_program(relu.program, relu.evaluated, target());
    QCOMPARE(row(rows, 0)[1 + kAnsorColumns + 0], 1.0F);
    QCOMPARE(row(rows, 0)[1 + kAnsorColumns + 1], 0.0F);
    QCOMPARE(row(rows, 0)[1 + kAnsorColumns + 2], 1.0F);
  }
};

QTEST_APPLESS_MAIN(PamFeatureTest)
#include "pam_test.moc"
