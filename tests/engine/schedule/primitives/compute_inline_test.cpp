// SPDX-License-Identifier: Apache-2.0
#include "engine/space/template.h"
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class ComputeInlineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reads_become_definitions() {
    te::DagBuilder d;
    const te::Tensor x = d.placeholder("x", {8}, kFloat32);
    const te::Tensor y = d.compute("y", {8}, [&](const te::Indices& i) { return x.at(i) * ir::fimm(kFloat32, 2); });
    const te::Tensor z = d.compute("z", {8}, [&](const te::Indices& i) { return y(ir::index(7) - i[0]); });
    Builder b(std::move(d).finish({z}));
    b.compute_inline(1);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "= x[7 - i] * T.float32(2)"));
    QVERIFY(text.find("y") == std::string::npos);
  }
  /// What doubles with every stage is neither lowered when asked for nor chosen by rule.
  void chains_that_double() {
    te::DagBuilder d;
    te::Tensor x = d.placeholder("x", {8}, kFloat32);
    for (int k = 0; k < 30; ++k) x = d.compute("y", {8}, [&](const te::Indices& i) { return x.at(i) + x.at(i); });
    const te::DagPtr dag = std::move(d).finish({x});
    Builder b(dag);
    for (int k = 1; k < 30; ++k) b.compute_inline(k);
    QVERIFY(has(lowered(std::move(b)), "Expected an expression of at most 16384 parts"));
    for (const Target& target : {host_target(), *parse_target("cuda:a100")}) {
      const auto f = lower::lower(space::default_schedule(dag, target), "f");
      QVERIFY2(f.has_value(), f ? "" : f.error().text().c_str());
      QVERIFY(tir::print(*f).size() < size_t{1} << 20);
    }
  }
  void refusals() {
    Builder sum(row_sums());
    sum.compute_inline(1);
    QVERIFY(has(refusal(std::move(sum)), "Expected a stage without reduction for 'compute_inline', found 'row_sum'"));
    Builder output(row_sums());
    output.compute_inline(2);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'compute_inline', found 'relu'"));
  }
};

QTEST_APPLESS_MAIN(ComputeInlineTest)
#include "compute_inline_test.moc"
