// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/sketch.h"

#include <QtTest>
#include <map>

#include "engine/base/json.h"
#include "engine/graph/to_dag.h"
#include "engine/lower/lower.h"
#include "engine/space/sketch/draw.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/mutate.h"
#include "engine/space/sketch/rule.h"
#include "engine/space/template.h"
#include "engine/te/dag.h"
#include "engine/tir/interp.h"
#include "tests/engine/lower/random_schedules.h"

using namespace tw;
using namespace tw::space;
namespace dags = tw::testing::dags;

namespace {

Target cpu(int cores = 4) {
  Target t;
  t.cores = cores;
  return t;
}
Target gpu() { return parse_target("cuda:a100").value(); }

std::vector<Sketch> ofTensorCores(const te::DagPtr& dag) {
  std::vector<Sketch> found;
  for (const Sketch& s : sketches(dag, gpu()))
    if (!s.derived.empty() && std::string_view(s.derived.front().rule) == "tensor-cores") found.push_back(s);
  return found;
}

/// Draws of the sketches in turn until `most` of them were legal: they can be lowered and compute what the definition says. How many there were; -1: one does not.
int tensorCoreDrawsAgree(const std::vector<Sketch>& found, const te::DagPtr& dag, int most, double tolerance) {
  int lowered = 0;
  for (uint64_t seed = 0; seed < 60 && lowered < most; ++seed) {
    Rng rng(seed);
    const auto s = random_schedule(found[seed % found.size()], gpu(), {}, rng);
    if (!s || !check_limits(*s, gpu())) continue;
    const auto f = lower::lower_and_optimize(*s, "f", gpu());
    if (!QTest::qVerify(f.has_value(), "lowered", f ? "" : (f.error().text() + "\n" + schedule::print_steps(*s)).c_str(), __FILE__, __LINE__)) return -1;
    ++lowered;
    const std::vector<HostArray> inputs = tw::testing::random_inputs(*dag, rng);
    const auto want = te::interpret(*dag, inputs).value();
    const auto got = tw::testing::run_scheduled(*s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(*f, args); });
    if (!QTest::qVerify(got.has_value(), "interpreted", got ? "" : got.error().text().c_str(), __FILE__, __LINE__)) return -1;
    if (!QTest::qVerify(tw::testing::largest_difference(*got, want) < tolerance, "equal", schedule::print_steps(*s).c_str(), __FILE__, __LINE__)) return -1;
  }
  return lowered;
}

std::vector<te::DagPtr> s_dags;  ///< of the rows

/// `stage:rule` of each sketch in turn, sketches apart by lines.
std::string derivations(const std::vector<Sketch>& all) {
  std::string out;
  for (const Sketch& s : all) {
    for (size_t k = 0; k < s.derived.size(); ++k) out += (k ? " " : "") + s.derived[k].stage + ":" + s.derived[k].rule;
    out += "\n";
  }
  return out;
}

}  // namespace

class SketchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsAreAnsors_data();
  void countsAreAnsors();
  void everySketchIsASchedule();
  void structuresAreParameters();
  void rulesNameWhatTheyDid();
  void numbersAreOpen();
  void windowsWithFewTransforms();
  void reductionsInsideReductions();
  void rulesOfOurOwn();
  void tensorCores();
  void tensorCoresOfConvolutions_data();
  void tensorCoresOfConvolutions();
  void limitsKnowTensorCores();
};

/// As many as TVM 0.9 finds; for those that its tests count, as they say.
void SketchTest::countsAreAnsors_data() {
  QTest::addColumn<int>("dag");
  QTest::addColumn<int>("on_cpu");
  QTest::addColumn<int>("on_gpu");
  const auto add = [](const char* name, te::DagPtr dag, int on_cpu, int on_gpu) {
    QTest::newRow(name) << static_cast<int>(s_dags.size()) << on_cpu << on_gpu;
    s_dags.push_back(std::move(dag));
  };
  s_dags.clear();
  add("matmul", dags::matmul(512, 512, 512), 3, 1);
  add("matmul of few results", dags::matmul(8, 8, 1024), 5, 2);
  add("matmul and relu", dags::matmul(512, 512, 512, true), 3, 1);
  add("matmul of few results and relu", dags::matmul(8, 8, 1024, true), 5, 2);
  add("convolution with bias and relu", dags::conv_nhwc(256, 512, 14), 3, 1);
  add("two products", dags::two_products(512, 512, 512, 512), 9, 1);
  add("softmax", dags::softmax(64, 1000), 9, 4);
  add("row min", dags::row_min(), 3, 2);
  add("norm", dags::norm(1, 1000), 3, 2);
  add("sum of all", dags::sum_of_all(), 3, 2);
  add("max pool", dags::relu_pool(), 3, 1);
  add("elementwise", dags::broadcast_add(), 1, 1);
  add("small transforms", dags::small_transforms(), 1, 1);
}

void SketchTest::countsAreAnsors() {
  QFETCH(int, dag);
  QFETCH(int, on_cpu);
  QFETCH(int, on_gpu);
  const SketchOptions exact{.exact = true};
  const auto of_cpu = sketches(s_dags[static_cast<size_t>(dag)], cpu(), exact), of_gpu = sketches(s_dags[static_cast<size_t>(dag)], gpu(), exact);
  QVERIFY2(static_cast<int>(of_cpu.size()) == on_cpu, derivations(of_cpu).c_str());
  QVERIFY2(static_cast<int>(of_gpu.size()) == on_gpu, derivations(of_gpu).c_str());
}

/// With every length 1 and with others, and each is another.
void SketchTest::everySketchIsASchedule() {
  for (const auto& sample : tw::testing::sample_dags())
    for (const Target& target : {cpu(), gpu()}) {
      const std::vector<Sketch> all = sketches(sample.dag, target);
      QVERIFY2(!all.empty(), sample.name);
      std::set<std::string> different;
      for (const Sketch& s : all) {
        const auto replayed = schedule::Schedule::replay(s.dag, s.steps);
        QVERIFY2(replayed, replayed ? "" : (sample.name + (": " + replayed.error().text())).c_str());
        different.insert(schedule::json_text(s.steps));
        std::vector<schedule::Step> steps = s.steps;
        for (const int k : s.open) {
          auto& split = std::get<schedule::SplitStep>(steps[static_cast<size_t>(k)]);
          QVERIFY(std::all_of(split.lengths.begin(), split.lengths.end(), [](int64_t l) { return l == 1; }));
          split.lengths.back() = 2;
        }
        QVERIFY2(schedule::Schedule::replay(s.dag, steps), sample.name);
      }
      QCOMPARE(different.size(), all.size());
    }
}

void SketchTest::structuresAreParameters() {
  const auto matmul = dags::matmul(64, 64, 64);
  const auto orders = [&](const SketchOptions& options, const Target& target) {
    std::vector<size_t> loops;
    for (const Sketch& s : sketches(matmul, target, options))
      for (const schedule::Step& step : s.steps)
        if (const auto* r = std::get_if<schedule::ReorderStep>(&step)) loops.push_back(r->order.size());
    return loops;
  };
  // Two axes in four levels and one in two; the copies that go with them in two and three.
  QCOMPARE(orders({}, cpu()), (std::vector<size_t>{10, 10, 4, 10, 6}));
  QCOMPARE(orders({.cpu_structure = "SRS"}, cpu()), (std::vector<size_t>{5, 5, 4}));  // level 2 is no spatial one
  QCOMPARE(orders({}, gpu()), (std::vector<size_t>{13, 8}));
  QCOMPARE(orders({.gpu_structure = "SSSRS"}, gpu()), (std::vector<size_t>{9, 8}));
}

void SketchTest::rulesNameWhatTheyDid() {
  QCOMPARE(derivations(sketches(dags::matmul(512, 512, 512), gpu())),
           std::string("matmul:add-cache-write matmul_local:multi-level-tiling-with-fusion a:add-cache-read w:add-cache-read\n"));
  QCOMPARE(derivations(sketches(dags::small_transforms(), gpu())), std::string("transform:simplify-const-tensor twice:special-compute-location\n"));
  const std::string product = derivations(sketches(dags::matmul(8, 8, 1024, true), cpu()));
  for (const char* part : {"matmul:add-rfactor\n", "matmul:multi-level-tiling-with-fusion\n", "matmul:multi-level-tiling\n"})
    QVERIFY2(product.find(part) != std::string::npos, product.c_str());
  std::set<std::string> names;
  for (const SketchRule& r : sketch_rules()) {
    QVERIFY(names.insert(r.name).second && (r.cpu || r.gpu) && std::string_view(r.summary).ends_with('.'));
  }
  QCOMPARE(names.size(), size_t{15});
}

/// All splits of tiles and of parts of sums, and no others.
void SketchTest::numbersAreOpen() {
  for (const Sketch& s : sketches(dags::matmul(8, 8, 1024), cpu())) {
    size_t splits = 0;
    for (const schedule::Step& step : s.steps) splits += std::holds_alternative<schedule::SplitStep>(step);
    QCOMPARE(s.open.size(), splits);
  }
  bool fixed = false;
  for (const Sketch& s : sketches(dags::row_min(), gpu()))
    for (size_t k = 0; k < s.steps.size(); ++k)
      if (const auto* split = std::get_if<schedule::SplitStep>(&s.steps[k])) {
        fixed = true;
        QCOMPARE(split->lengths, std::vector<int64_t>{32});  // a warp reduces together
        QVERIFY(std::find(s.open.begin(), s.open.end(), static_cast<int>(k)) == s.open.end());
      }
  QVERIFY(fixed);
}

/// What rules of our own add for a convolution on processors. What it reads and writes lies in blocks of channels, whose loop is the innermost of each tile, and
/// the border of zeros is an array or none; windows become a product of matrices, or are transformed.
void SketchTest::rulesOfOurOwn() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 16, 10, 10}, kFloat32), w = b.placeholder("w", {64, 16, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor p = b.compute(
      "pad", {1, 16, 12, 12},
      [&](const te::Indices& i) {
        const ir::Expr inside = (ir::index(1) <= i[2] && i[2] < ir::index(11)) && (ir::index(1) <= i[3] && i[3] < ir::index(11));
        return ir::select(inside, x(i[0], i[1], i[2] - 1, i[3] - 1), ir::fimm(kFloat32, 0));
      },
      "pad");
  const te::Tensor y = dags::conv2d(b, p, w, 1);
  const auto dag = std::move(b).finish({y});
  Target target = cpu();
  target.vector_bits = 512;
  const size_t theirs = sketches(dag, target, {.exact = true}).size();
  std::map<std::string, size_t> by_second;  // rule of our own after the layouts
  size_t inlined = 0;
  for (const Sketch& s : sketches(dag, target)) {
    QVERIFY(s.derived.size() > 1);
    QCOMPARE(std::string(s.derived.front().rule), std::string("block-activations"));
    QVERIFY(std::get<schedule::LayoutStep>(s.steps[0]) == (schedule::LayoutStep{0, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}));
    const std::string second = s.derived[1].rule;
    ++by_second[second == "winograd" || second == "im2col" ? second : ""];
    if (second == "winograd" || second == "im2col") continue;
    inlined += std::any_of(s.steps.begin(), s.steps.end(), [](const schedule::Step& step) { return std::holds_alternative<schedule::ComputeInlineStep>(step); });
    const auto order = std::find_if(s.steps.begin(), s.steps.end(), [](const schedule::Step& step) {
      const auto* r = std::get_if<schedule::ReorderStep>(&step);
      return r && r->order.size() > 5;  // not the border's
    });
    QVERIFY(order != s.steps.end());
    QCOMPARE(std::get<schedule::ReorderStep>(*order).order.back(), 7);  // the last of the second axis' four loops
    QCOMPARE(s.tiled.size(), size_t{1});
    QCOMPARE(s.tiled[0].inner, s.tiled[0].splits[1]);
  }
  QCOMPARE(by_second[""], 2 * theirs);
  QCOMPARE(inlined, theirs);
  QVERIFY(by_second["im2col"] >= 3);
  QVERIFY(by_second["winograd"] >= 6);
  for (const Sketch& s : sketches(dag, gpu()))
    for (const RuleUse& use : s.derived) QVERIFY(std::string_view(use.rule) != "block-activations" && std::string_view(use.rule) != "winograd");
}

/// Of 7x7 windows there is no transform for tiles of four: the rule leaves it out.
void SketchTest::windowsWithFewTransforms() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 16, 22, 26}, kFloat32), w = b.placeholder("w", {20, 16, 7, 7}, kFloat32, te::Role::constant);
  const te::Tensor y = dags::conv2d(b, x, w, 1);
  std::set<int64_t> sides;
  for (const Sketch& s : sketches(std::move(b).finish({y}), cpu()))
    for (const schedule::Step& step : s.steps)
      if (const auto* winograd = std::get_if<schedule::WinogradStep>(&step)) sides.insert(winograd->tile);
  QCOMPARE(sides, (std::set<int64_t>{2}));
}

/// A sum by the threads of a block whose only reader is such a sum itself, inside the loops of another: they share its threads.
void SketchTest::reductionsInsideReductions() {
  const auto dag = te::parse_dag(
                       "X: float32[64, 256] = placeholder()\nm: float32[64] = sum(i, j=256)\n    X[i, j]\n"
                       "v: float32[64] = sum(i, j=256)\n    (X[i, j] - m[i]) * (X[i, j] - m[i])\nY: float32[64] = compute(i)\n    sqrt(v[i])\noutputs(Y)\n")
                       .value();
  int agree = 0, chained = 0;
  for (const Sketch& sketch : sketches(dag, gpu())) {
    const auto by_threads = [](const RuleUse& use) { return std::string_view(use.rule) == "cross-thread-reduction"; };
    if (std::count_if(sketch.derived.begin(), sketch.derived.end(), by_threads) < 2) continue;
    ++chained;
    Rng rng(1);
    for (int draw = 0; draw < 20; ++draw) {
      const auto s = random_schedule(sketch, gpu(), {}, rng);
      if (!s || !check_limits(*s, gpu())) continue;
      const auto f = lower::lower_and_optimize(*s, "f", gpu());
      QVERIFY2(f.has_value(), f ? "" : (f.error().text() + "\n" + schedule::print_steps(*s)).c_str());
      const std::vector<HostArray> inputs = tw::testing::random_inputs(*dag, rng);
      const auto got = tw::testing::run_scheduled(*s, inputs, [&](std::vector<HostArray>& args) { return tir::interpret(*f, args); });
      QVERIFY2(got.has_value(), got ? "" : got.error().text().c_str());
      QVERIFY2(tw::testing::largest_difference(*got, te::interpret(*dag, inputs).value()) < 1e-3, schedule::print_steps(*s).c_str());
      ++agree;
    }
  }
  QVERIFY(chained > 0 && agree > 0);
}

/// Half-precision products of whole tiles, by two, three and four tiles in turn; what random numbers make of them is what the definition says.
void SketchTest::tensorCores() {
  const auto product = [](int64_t m, int64_t n, int64_t k) {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {m, k}, kFloat16), w = b.placeholder("w", {n, k}, kFloat16, te::Role::constant);
    const te::Tensor y = b.reduce(
        "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    return std::move(b).finish({b.compute("relu", {m, n}, [&](const te::Indices& i) { return ir::max(y.at(i), ir::fimm(kFloat16, 0)); })});
  };
  const auto dag = product(64, 96, 64);
  const std::vector<Sketch> found = ofTensorCores(dag);
  QCOMPARE(found.size(), size_t{3});
  QCOMPARE(found[0].open.size(), size_t{3});
  for (const Sketch& s : sketches(product(64, 90, 64), gpu()))
    for (const RuleUse& use : s.derived) QVERIFY(std::string_view(use.rule) != "tensor-cores");
  const int lowered = tensorCoreDrawsAgree(found, dag, 12, 2e-2);
  QVERIFY2(lowered >= 8, qPrintable(QString::number(lowered)));
}

/// Convolutions whose channels are whole tiles, with either order of dimensions; places are rounded up.
void SketchTest::tensorCoresOfConvolutions_data() {
  QTest::addColumn<bool>("last");
  QTest::addColumn<int>("side");
  QTest::addColumn<int>("taps");
  QTest::addColumn<int>("stride");
  for (const bool last : {false, true}) {
    const char* order = last ? "channels last" : "channels second";
    QTest::addRow("%s, 3 x 3", order) << last << 8 << 3 << 1;
    QTest::addRow("%s, 3 x 3, stride 2, surplus places", order) << last << 13 << 3 << 2;
    QTest::addRow("%s, 1 x 1", order) << last << 6 << 1 << 1;
  }
}
void SketchTest::tensorCoresOfConvolutions() {
  QFETCH(bool, last);
  QFETCH(int, side);
  QFETCH(int, taps);
  QFETCH(int, stride);
  const auto dag_with = [&](int64_t in, int64_t out) {
    graph::GraphBuilder b("case");
    const std::vector<int64_t> image = last ? std::vector<int64_t>{1, side, side, in} : std::vector<int64_t>{1, in, side, side};
    const std::vector<int64_t> filters = last ? std::vector<int64_t>{taps, taps, in, out} : std::vector<int64_t>{out, in, taps, taps};
    const int x = b.input("x", {kFloat16, image}), w = b.constant("w", HostArray::make(kFloat16, filters));
    const graph::Attrs attrs{{{"pads", std::vector<int64_t>(4, taps / 2)}, {"strides", std::vector<int64_t>{stride, stride}}}};
    const int y = b.node(last ? "conv2d_nhwc" : "conv2d", {x, w}, attrs).value()[0];
    b.output(b.node("relu", {y}).value()[0]);
    const graph::Graph g = std::move(b).finish();
    const std::vector<int> nodes{0, 1};
    return graph::to_dag(g, nodes, g.outputs).value().dag;
  };
  QVERIFY(ofTensorCores(dag_with(24, 32)).empty() && ofTensorCores(dag_with(16, 40)).empty());
  const te::DagPtr dag = dag_with(32, 48);
  const std::vector<Sketch> found = ofTensorCores(dag);
  QCOMPARE(found.size(), size_t{3});
  const int lowered = tensorCoreDrawsAgree(found, dag, 6, 5e-2);
  QVERIFY2(lowered >= 4, qPrintable(QString::number(lowered)));
}

/// What mutations make of points of the template for tensor cores: what the limits let through can be lowered, but for few.
void SketchTest::limitsKnowTensorCores() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {256, 256}, kFloat16), w = b.placeholder("w", {256, 256}, kFloat16, te::Role::constant);
  const te::DagPtr dag = std::move(b).finish({b.reduce(
      "dense", {256, 256}, {256}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense")});
  const Template* t = find_template(*dag, gpu(), "dense_tensorcore.cuda");
  QVERIFY(t);
  const ConfigSpace points = t->space(*dag, gpu());
  int passed = 0, refused = 0, wrong = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed);
    const auto point = points.get(rng.range(0, points.size() - 1));
    const auto parent = t->apply(dag, gpu(), *point);
    if (!points.filtered_reason(*point).empty() || !parent) continue;
    const DrawOptions options;
    const auto steps = tile_size_mutation().apply({dag, parent->steps(), gpu(), options, rng});
    const auto child = steps ? schedule::Schedule::replay(dag, *steps) : Expected<schedule::Schedule>(steps.error());
    if (!child) continue;
    const bool allowed = check_limits(*child, gpu()).has_value();
    const bool lowers = lower::lower(*child, "f").has_value();
    refused += !allowed;
    passed += allowed && lowers;
    wrong += allowed && !lowers;
  }
  QVERIFY2(passed > 10 && refused > 10 && 10 * wrong < passed, qPrintable(QStringLiteral("%1 passed, %2 refused, %3 passed that cannot be lowered").arg(passed).arg(refused).arg(wrong)));
}

QTEST_APPLESS_MAIN(SketchTest)
#include "sketch_test.moc"
