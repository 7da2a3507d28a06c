// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "engine/base/text.h"
#include "engine/graph/partition.h"
#include "engine/graph/pass.h"
#include "tests/engine/graph/random_graphs.h"

using namespace tw;
using namespace tw::graph;

namespace {

using Arrays = std::vector<HostArray>;

/// Runs the kernels of a partition through the interpreter of tensor expressions, as compiled kernels would run.
Arrays run_groups(const Graph& g, const Partition& p, const std::map<std::string, HostArray>& inputs) {
  std::vector<HostArray> values(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].constant) values[v] = *g.values[v].constant;
  for (const int v : g.inputs) values[static_cast<size_t>(v)] = inputs.at(g.values[static_cast<size_t>(v)].name);
  for (const Group& group : p.groups) {
    Arrays arguments;
    for (const int v : group.inputs) arguments.push_back(values[static_cast<size_t>(v)]);
    const Arrays results = te::interpret(*group.dag, arguments).value();
    for (size_t i = 0; i < results.size(); ++i) values[static_cast<size_t>(group.outputs[i])] = results[i];
  }
  Arrays outputs;
  for (const int v : g.outputs) outputs.push_back(values[static_cast<size_t>(v)]);
  return outputs;
}

/// Whether a rewriting that only rounds differently can be told from a wrong one: finite, and not so large that differences cancel.
bool moderate(const Arrays& arrays) {
  for (const HostArray& a : arrays)
    for (int64_t i = 0; i < a.num_elements(); ++i)
      if (!(std::abs(a.get(i)) < 1e4) && a.dtype.is_float()) return false;
  return true;
}

/// Of the coarsest floating-point type on the way to any result.
double tolerance(const Graph& g) {
  double t = 1e-9;
  for (const Value& v : g.values)
    if (v.type.dtype.is_float()) t = std::max(t, v.type.dtype.bits == 16 ? 2e-2 : v.type.dtype == kFloat32 ? 2e-4 : 0);
  return t;
}

/// Text that says what differs, empty if nothing does.
std::string difference(const Graph& before, const Graph& after, const Arrays& want, const Arrays& got) {
  if (before.outputs.size() != after.outputs.size()) return "another number of outputs";
  for (size_t o = 0; o < want.size(); ++o) {
    const Value &b = before.values[static_cast<size_t>(before.outputs[o])], &a = after.values[static_cast<size_t>(after.outputs[o])];
    if (a.name != b.name) return fmt::format("output {} is called '{}' instead of '{}'", o, a.name, b.name);
    if (a.type != b.type || a.producer < 0) return fmt::format("output '{}' is {} instead of {}", b.name, a.type.text(), b.type.text());
    // Rounding is relative to what went into a sum, which is about 1 where the result itself cancels to nothing.
    double largest = 1, off = 0;
    for (int64_t i = 0; i < want[o].num_elements(); ++i) {
      largest = std::max(largest, std::abs(want[o].get(i)));
      const double d = std::abs(got[o].get(i) - want[o].get(i));
      off = std::isnan(d) ? INFINITY : std::max(off, d);
    }
    if (off > (b.type.dtype.is_float() ? tolerance(before) * largest : 0))
      return fmt::format("output '{}' of type {} differs by {} of {}", b.name, b.type.text(), off, largest);
  }
  return {};
}

}  // namespace

/// Whatever subset of the passes runs, the optimised network computes what the imported one does: checked on random networks node by node against the
/// interpreter. A failure prints the seed and the graph.
class RandomGraphsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void optimisedEqualsUnoptimised_data() {
    QTest::addColumn<int>("disable_percent");
    QTest::addColumn<int>("graphs");
    QTest::newRow("all passes") << 0 << 3000;
    QTest::newRow("some passes off") << 25 << 2000;
    QTest::newRow("most passes off") << 75 << 1000;
  }

  void optimisedEqualsUnoptimised() {
    QFETCH(int, disable_percent);
    QFETCH(int, graphs);
    const Target target = parse_target("llvm -mcpu=znver4").value();  // which every pass has work for
    int compared = 0;
    std::map<std::string, int> changed;
    for (int seed = 0; seed < graphs; ++seed) {
      const Graph g = tw::graph::testing::RandomGraph(static_cast<uint64_t>(seed) * 1000 + static_cast<uint64_t>(disable_percent)).make();
      const std::string told = fmt::format("seed {}, {} % off\n{}", seed, disable_percent, print(g, 64));
      const auto legal = verify(g);
      QVERIFY2(legal.has_value(), (told + (legal ? "" : legal.error().text())).c_str());
      const auto inputs = tw::graph::testing::random_inputs(g, static_cast<uint64_t>(seed));
      const auto want = evaluate(g, inputs);
      QVERIFY2(want.has_value(), (told + (want ? "" : want.error().text())).c_str());
      if (!moderate(*want)) continue;
      ++compared;
      PassHooks hooks;
      Rng rng(static_cast<uint64_t>(seed));
      for (const Pass& p : passes()) (rng.range(1, 100) <= disable_percent ? hooks.disabled : hooks.enabled).push_back(p.name);
      hooks.after = [&](const Pass& p, const Graph&, const Graph&, double, bool c) { changed[p.name] += c; };
      const auto optimised = run_passes(g, target, hooks);
      QVERIFY2(optimised.has_value(), (told + (optimised ? "" : optimised.error().text())).c_str());
      const auto parts = partition(*optimised);
      QVERIFY2(parts.has_value(), (told + (parts ? "" : parts.error().text())).c_str());
      const std::string differs = difference(g, *optimised, *want, run_groups(*optimised, *parts, inputs));
      if (!differs.empty()) fmt::print(stderr, "{}{}off: {}\n", told, print(*optimised, 64), fmt::join(hooks.disabled, ", "));
      QVERIFY2(differs.empty(), differs.c_str());
    }
    QVERIFY2(compared > graphs * 9 / 10, std::to_string(compared).c_str());
    // Every pass found work on these networks: none is tested by its absence.
    if (disable_percent == 0)
      for (const Pass& p : passes()) QVERIFY2(changed[p.name] > 10, fmt::format("'{}' changed {} graphs", p.name, changed[p.name]).c_str());
  }
};

QTEST_APPLESS_MAIN(RandomGraphsTest)
#include "random_graphs_test.moc"
