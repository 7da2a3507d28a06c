// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "engine/api/kernel_plan.h"
#include "engine/base/rng.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/runtime/graph_executor.h"
#include "tests/engine/api/tiny_network.h"
#include "tests/engine/graph/graphs.h"

// After the engine: Qt makes a macro of the word that an executable calls its arrays by.
#include <QtTest>

using namespace tw;

namespace {

/// Chains of convolutions along one, two and three dimensions in any order, with what stands between them in networks: odd numbers of channels, windows of 1
/// along some dimensions, groups, strides, pools, residuals, norms.
class RandomConvolutions {
 public:
  explicit RandomConvolutions(uint64_t seed) : rng_(seed), b_("random") {}

  graph::Graph make() {
    const auto spatial = static_cast<size_t>(rng_.range(1, 3));
    Dims shape{rng_.range(1, 2), channels()};
    for (size_t d = 0; d < spatial; ++d) shape.push_back(rng_.range(3, spatial == 1 ? 40 : spatial == 2 ? 15 : 9));
    v_ = b_.input("x", {kFloat32, shape});
    const int64_t layers = rng_.range(3, 9);
    for (int64_t k = 0; k < layers; ++k) grow();
    convolution();
    if (rng_.range(0, 1)) emit("relu", {v_});
    b_.output(v_);
    return std::move(b_).finish();
  }

 private:
  using Dims = std::vector<int64_t>;
  const Dims& shape() const { return b_.graph().values[static_cast<size_t>(v_)].type.shape; }
  void emit(const std::string& op, const std::vector<int>& inputs, std::map<std::string, graph::AttrValue> attrs = {}) {
    v_ = b_.node(op, inputs, graph::Attrs{std::move(attrs)}).value()[0];
  }
  int weight(const Dims& s) {
    HostArray a = HostArray::make(kFloat32, s);
    int64_t terms = 1;
    for (size_t d = 1; d < s.size(); ++d) terms *= s[d];
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, (2 * rng_.uniform_real() - 1) * std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(1, terms))));
    return b_.constant("w", std::move(a));
  }
  int64_t channels() {
    constexpr int64_t kChannels[] = {1, 3, 5, 8, 11, 12, 16, 18, 20, 23, 24, 29, 30, 32, 46, 58, 64, 116};
    return kChannels[rng_.uniform(std::size(kChannels))];
  }

  void convolution() {
    const size_t spatial = shape().size() - 2;
    const int64_t in = shape()[1], most = std::gcd(in, channels() * 4), groups = rng_.range(0, 3) == 0 ? most : 1;
    const int64_t out = groups == in ? in * rng_.range(1, 2) : groups * std::max<int64_t>(1, channels() / groups);
    Dims w{out, in / groups}, strides, pads(2 * spatial, 0), dilations(spatial, 1);
    for (size_t d = 0; d < spatial; ++d) {
      const int64_t taps = std::min<int64_t>(shape()[d + 2], 2 * rng_.range(0, 2) + 1);
      w.push_back(taps);
      strides.push_back(rng_.range(0, 3) == 0 && shape()[d + 2] > 4 ? 2 : 1);
      if (rng_.range(0, 3) > 0) pads[d] = pads[d + spatial] = taps / 2;
    }
    std::vector<int> operands{v_, weight(w)};
    if (rng_.range(0, 1)) operands.push_back(weight({out}));
    emit("conv" + std::to_string(spatial) + "d", operands, {{"strides", strides}, {"pads", pads}, {"dilations", dilations}, {"groups", groups}});
  }

  void grow() {
    const size_t spatial = shape().size() - 2;
    const Dims s = shape();
    switch (rng_.range(0, 12)) {
      case 0:
        emit("relu", {v_});
        break;
      case 1: {  // one number a channel
        Dims along(s.size(), 1);
        along[1] = s[1];
        emit("mul", {v_, weight(along)});
        emit("add", {v_, weight(along)});
        break;
      }
      case 2: {
        const int before = v_;
        convolution();
        if (shape() == s) emit("add", {v_, before});
        emit("relu", {v_});
        break;
      }
      case 3: {
        Dims kernel(spatial, 1), ones(spatial, 1), pads(2 * spatial, 0);
        for (size_t d = 0; d < spatial; ++d) kernel[d] = std::min<int64_t>(s[d + 2], rng_.range(1, 3));
        emit((rng_.range(0, 1) ? "max_pool" : "avg_pool") + std::to_string(spatial) + "d", {v_},
             {{"kernel", kernel}, {"strides", ones}, {"pads", pads}, {"dilations", ones}, {"ceil_mode", int64_t{0}}});
        break;
      }
      case 4:  // fewer dimensions
        if (spatial > 1) {
          Dims to(s.begin(), s.end() - 1);
          to.back() *= s.back();
          if (to.back() <= 64) emit("reshape", {v_}, {{"shape", to}});
        }
        break;
      case 5:  // more dimensions
        if (spatial < 3) {
          Dims to = s;
          const int64_t parts = s.back() % 3 == 0 ? 3 : s.back() % 2 == 0 ? 2 : 1;
          to.back() /= parts;
          to.push_back(parts);
          emit("reshape", {v_}, {{"shape", to}});
        }
        break;
      case 6:
        emit("softmax", {v_}, {{"axis", int64_t{1}}});
        break;
      case 7: {  // some of the channels
        Dims starts(s.size(), 0), sizes = s;
        starts[1] = rng_.range(0, 3) == 0 ? 0 : rng_.range(0, s[1] - 1);
        sizes[1] = rng_.range(1, s[1] - starts[1]);
        emit("slice", {v_}, {{"starts", starts}, {"steps", Dims(s.size(), 1)}, {"sizes", sizes}});
        break;
      }
      case 8: {  // channels of two branches, one after the other or by turns
        const int before = v_;
        const int64_t turns = rng_.range(0, 1);
        convolution();
        if (Dims(shape().begin() + 2, shape().end()) != Dims(s.begin() + 2, s.end())) break;
        const int64_t together = s[1] + shape()[1];
        emit("concat", {before, v_}, {{"axis", int64_t{1}}});
        if (turns == 0 || together % 2 != 0) break;
        Dims halves = shape(), order;
        halves[1] /= 2;
        halves.insert(halves.begin() + 1, 2);
        for (size_t d = 0; d < halves.size(); ++d) order.push_back(static_cast<int64_t>(d));
        std::swap(order[1], order[2]);
        const Dims whole = shape();
        emit("reshape", {v_}, {{"shape", halves}});
        emit("transpose", {v_}, {{"perm", order}});
        emit("reshape", {v_}, {{"shape", whole}});
        break;
      }
      default:
        convolution();
    }
  }

  Rng rng_;
  graph::GraphBuilder b_;
  int v_ = -1;
};

}  // namespace

/// No network fails in scheduling: a template or rule that does not fit gives way to the next.
class RandomNetworksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_kernel_has_a_schedule_data() {
    QTest::addColumn<std::string>("target");
    for (const char* t : {"llvm -mcpu=x86-64 -num-cores=1", "llvm -mcpu=x86-64-v3 -num-cores=16", "llvm -mcpu=znver4 -num-cores=2", "llvm -mcpu=sapphirerapids -num-cores=64"})
      QTest::newRow(t) << std::string(t);
  }
  void every_kernel_has_a_schedule() {
    QFETCH(std::string, target);
    const Target t = parse_target(target).value();
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const graph::Graph optimized = graph::run_passes(RandomConvolutions(seed).make(), t).value();
      const graph::Partition partition = graph::partition(optimized).value();
      for (const bool templates : {true, false}) {
        const auto plan = api::plan_kernels(optimized, partition, t, {}, templates, {}, {}, {});
        QVERIFY2(plan, plan ? "" : qPrintable(QString("seed %1: %2").arg(seed).arg(QString::fromStdString(plan.error().text()))));
        for (const api::PlannedKernel& k : plan->kernels) {
          if (seed % 6 != 0) break;  // lowering takes longer
          const auto f = lower::lower_and_optimize(k.schedule, "kernel", t);
          QVERIFY2(f, f ? "" : qPrintable(QString("seed %1, %2: %3").arg(seed).arg(QString::fromStdString(k.name), QString::fromStdString(f.error().text()))));
        }
      }
    }
  }

  void numbers_agree() {
    const Target target = host_target();
    for (const uint64_t seed : {1, 2, 3, 5, 8, 13}) {
      api::Network n;
      n.imported = RandomConvolutions(seed).make();
      n.optimized = graph::run_passes(n.imported, target).value();
      n.partition = graph::partition(n.optimized).value();
      const auto inputs = graph::testing::random_inputs(n.imported, seed);
      const auto want = api::run_reference(n.imported, inputs, target).value();
      const double allowed = api::output_tolerances(n.imported).value()[0];
      const runtime::Executable e = api::compile(n, target, nullptr).value();
      auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(e), codegen::load_object(e.artifact.object).value(), 1).value();
      executor->set_inputs(inputs).value();
      executor->run().value();
      const double found = api::compare(executor->outputs().value()[0], want[0]).max_rel;
      QVERIFY2(found <= allowed, qPrintable(QString("seed %1: %2 of %3").arg(seed).arg(found).arg(allowed)));
    }
  }
};

QTEST_APPLESS_MAIN(RandomNetworksTest)
#include "random_networks_test.moc"
