// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/context_features.h"

#include <QtTest>
#include <algorithm>

using namespace tw;
using namespace tw::cost;

namespace {

double value(const std::vector<NamedNumber>& numbers, const std::string& name) {
  const auto at = std::find_if(numbers.begin(), numbers.end(), [&](const NamedNumber& n) { return n.name == name; });
  return at == numbers.end() ? -1 : at->value;
}

}  // namespace

class ContextFeaturesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void aGpuAndAProcessorHaveTheirFacts() {
    const auto a100 = parse_target("cuda:a100"), zen = parse_target("llvm -mcpu=znver5 -num-cores=2");
    QVERIFY(a100 && zen);
    const auto gpu = hardware_facts(*a100), cpu = hardware_facts(*zen);
    QCOMPARE(value(gpu, "multiprocessors"), 108.0);
    QCOMPARE(value(gpu, "peak [FLOP/s]"), target::peak_flops(*a100->gpu));
    QCOMPARE(value(gpu, "threads of a multiprocessor"), 2048.0);
    QCOMPARE(value(cpu, "cores"), 2.0);
    QCOMPARE(value(cpu, "vector width [bits]"), static_cast<double>(zen->vector_bits));
    QCOMPARE(value(cpu, "multiprocessors"), -1.0);
  }
  /// A product of 4 x 6 and 6 x 8: 4 x 8 sums of 6 terms, a multiplication and an addition each.
  void aProductsPropertiesByHand() {
    const auto dag = te::parse_dag(
        "A: float32[4, 6] = placeholder()\nB: float32[6, 8] = placeholder()\nC: float32[4, 8] = sum(y, x, k=6)\n    A[y, k] * B[k, x]\noutputs(C)\n");
    QVERIFY2(dag, dag ? "" : dag.error().message.c_str());
    const auto p = operator_properties(**dag);
    QCOMPARE(value(p, "FLOPs"), 2.0 * 4 * 8 * 6);
    QCOMPARE(value(p, "bytes"), 4.0 * (24 + 48 + 32));
    QCOMPARE(value(p, "FLOPs a byte"), 2.0 * 4 * 8 * 6 / (4 * (24 + 48 + 32)));
    QCOMPARE(value(p, "elements of the results"), 32.0);
    QCOMPARE(value(p, "terms of a sum"), 6.0);
  }
};

QTEST_APPLESS_MAIN(ContextFeaturesTest)
#include "context_features_test.moc"
