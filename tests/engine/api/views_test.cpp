// SPDX-License-Identifier: Apache-2.0
#include "engine/api/views.h"

#include <QtTest>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "tests/engine/api/compiled_graph.h"

using namespace tw;

namespace {

using Dims = std::vector<int64_t>;

/// Networks that consist of reshapes, slices and concatenations around kernels that read and write whole arrays: parts that follow each other in memory or do not,
/// begin at multiples of 64 bytes or do not, are read twice, are inputs, constants and outputs.
class Views {
 public:
  explicit Views(uint64_t seed) : rng_(seed) {}

  graph::Graph make() {
    const Dims shape = any<Dims>({{8, 16}, {4, 4, 16}, {16, 8}, {1, 16, 16}, {6, 5}, {32}});
    const int64_t inputs = rng_.range(1, 2);
    for (int64_t i = 0; i < inputs; ++i) known_.push_back(b_.input("x" + std::to_string(i), {kFloat32, shape}));
    if (rng_.uniform(3) == 0) known_.push_back(b_.constant("c", graph::testing::random_array({kFloat32, shape}, rng_.next())));
    const int64_t nodes = rng_.range(4, 10);
    for (int tries = 0; tries < 60 && static_cast<int64_t>(b_.graph().nodes.size()) < nodes; ++tries) grow();
    if (b_.graph().nodes.empty()) kernel(known_.front());
    std::vector<int> outputs;
    for (const int v : known_)
      if (b_.graph().values[static_cast<size_t>(v)].producer >= 0 && (v == known_.back() || rng_.uniform(5) == 0)) outputs.push_back(v);
    for (const int v : outputs) b_.output(v);
    return std::move(b_).finish();
  }

 private:
  template <class T>
  T any(std::initializer_list<T> list) {
    return std::data(list)[rng_.uniform(list.size())];
  }
  const Dims& shape(int v) const { return b_.graph().values[static_cast<size_t>(v)].type.shape; }
  int pick() { return known_[rng_.uniform(2) == 0 ? known_.size() - 1 : rng_.uniform(known_.size())]; }
  int node(const std::string& op, std::vector<int> inputs, std::map<std::string, graph::AttrValue> attrs) {
    const auto made = b_.node(op, std::move(inputs), graph::Attrs{std::move(attrs)});
    if (!made) return -1;
    known_.push_back((*made)[0]);
    return known_.back();
  }

  void kernel(int v) { node("softmax", {v}, {{"axis", static_cast<int64_t>(shape(v).size()) - 1}}); }

  void grow() {
    const int v = pick();
    switch (rng_.uniform(6)) {
      case 0:
      case 1:
        kernel(v);
        break;
      case 2:
        reshape(v);
        break;
      case 3:
        slice(v);
        break;
      default:
        concat(v);
    }
  }

  void reshape(int v) {
    int64_t n = 1;
    for (const int64_t d : shape(v)) n *= d;
    Dims to{n};
    for (const int64_t f : {16, 4, 2, 3})
      if (n % f == 0 && rng_.uniform(2) == 0) to = rng_.uniform(2) == 0 ? Dims{n / f, f} : Dims{f, n / f};
    if (rng_.uniform(3) == 0) to.insert(to.begin(), 1);
    node("reshape", {v}, {{"shape", to}});
  }

  void slice(int v) {
    const Dims& s = shape(v);
    Dims starts(s.size(), 0), steps(s.size(), 1), sizes = s;
    for (int64_t k = rng_.uniform(5) == 0 ? 2 : 1; k > 0; --k) {
      const size_t d = rng_.uniform(2) == 0 ? rng_.uniform(s.size()) : first_long(s);
      starts[d] = rng_.uniform(s[d]);
      if (rng_.uniform(2) == 0) starts[d] -= starts[d] % 4;
      sizes[d] = rng_.range(1, s[d] - starts[d]);
      if (rng_.uniform(3) == 0 && sizes[d] > 2) steps[d] = 2, sizes[d] /= 2;
    }
    read_twice(node("slice", {v}, {{"starts", starts}, {"steps", steps}, {"sizes", sizes}}));
  }
  static size_t first_long(const Dims& s) {
    size_t d = 0;
    while (d + 1 < s.size() && s[d] == 1) ++d;
    return d;
  }

  void concat(int v) {
    const Dims s = shape(v);
    const size_t axis = rng_.uniform(2) == 0 ? rng_.uniform(s.size()) : first_long(s);
    std::vector<int> parts{v};
    int64_t length = s[axis];
    for (const int other : known_) {
      Dims o = shape(other);
      if (o.size() != s.size()) continue;
      const int64_t own = o[axis];
      o[axis] = s[axis];
      if (o != s || rng_.uniform(2) == 0 || parts.size() > 2 || length + own > 64) continue;
      length += own;
      parts.insert(rng_.uniform(2) == 0 ? parts.begin() : parts.end(), other);
    }
    if (parts.size() < 2) return;
    if (rng_.uniform(6) == 0) parts.push_back(parts.front());
    if (rng_.uniform(2) == 0)  // whole results of kernels, which nothing else reads
      for (int& part : parts) part = node("softmax", {part}, {{"axis", static_cast<int64_t>(rng_.uniform(s.size()))}});
    read_twice(node("concat", parts, {{"axis", static_cast<int64_t>(axis) - (rng_.uniform(2) == 0 ? static_cast<int64_t>(s.size()) : 0)}}));
  }

  /// Of two readers neither takes what they read into itself.
  void read_twice(int v) {
    if (v < 0 || rng_.uniform(4) == 0) return;
    kernel(v);
    if (shape(v).size() > 1) node("softmax", {v}, {{"axis", int64_t{0}}});
  }

  Rng rng_;
  graph::GraphBuilder b_{"views"};
  std::vector<int> known_;
};

}  // namespace

class ViewsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Of arrays that are all inputs none is dropped and none is added, however many there are.
  void inputsStay() {
    graph::GraphBuilder b("inputs");
    for (int i = 0; i < 330; ++i) b.input("x" + std::to_string(i), {kFloat32, {4}});
    const graph::Graph g = std::move(b).finish();
    for (size_t n = 1; n <= g.inputs.size(); ++n) {
      api::KernelPlan plan;
      for (size_t i = 0; i < n; ++i) plan.arrays.push_back({.value = g.inputs[i]});
      api::elide_copies(g, {}, plan);
      QCOMPARE(plan.arrays.size(), n);
      for (size_t i = 0; i < n; ++i) QCOMPARE(plan.arrays[i].value, g.inputs[i]);
    }
  }

  /// As where networks weigh parts of their channels against each other: between convolutions they stay in blocks, and taking them apart moves nothing.
  void channelsTakenApartStayInBlocks() {
    const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
    for (const int64_t keeps : {0, 1}) {
      graph::testing::Net n;
      const int x = n.op("relu", {n.conv(n.input({1, 16, 9, 9}), 16, 64)});
      const int parts = n.op("reshape", {x}, graph::Attrs{{{"shape", Dims{1, 2, 32, 9, 9}}}});
      const int sum = n.op("reduce_sum", {n.op("mul", {parts, n.weight({1, 2, 32, 1, 1})})}, graph::Attrs{{{"axes", Dims{1}}, {"keepdims", keeps}}});
      const int joined = keeps ? n.op("reshape", {sum}, graph::Attrs{{{"shape", Dims{1, 32, 9, 9}}}}) : sum;
      const graph::Graph g = n.finish({n.conv(joined, 32, 16)});
      const runtime::Executable e = api::testing::compiled(g, target);
      std::string calls;
      for (const runtime::Call& c : e.calls) calls += c.name + " ";
      // The input and the output change their layouts.
      if (!keeps) QCOMPARE(QString::fromStdString(calls), QStringLiteral("layout_of_x fused_conv2d_relu fused_mul_reduce_sum fused_conv2d layout_of_conv2d_1.out "));
      QCOMPARE(api::testing::wrong(g, e), std::string());
    }
  }

  /// Whatever is left out of the plan as a copy of bytes, the network computes what its operators say.
  void randomViews() {
    const Target target = host_target();
    constexpr uint64_t kNetworks = 500;
    std::map<std::string, int> before, after;  // kernels that only copy, by operator
    for (uint64_t seed = 0; seed < kNetworks; ++seed) {
      const graph::Graph g = Views(seed).make();
      const graph::Graph optimized = graph::run_passes(g, target).value();
      const graph::Partition partition = graph::partition(optimized).value();
      for (const graph::Group& group : partition.groups)
        if (group.nodes.size() == 1) ++before["fused_" + optimized.nodes[static_cast<size_t>(group.nodes[0])].op];
      const runtime::Executable e = api::testing::compiled(g, target);
      for (const runtime::Call& c : e.calls) ++after[c.name];
      const std::string differs = api::testing::wrong(g, e);
      QVERIFY2(differs.empty(), fmt::format("seed {}: {}\n{}", seed, differs, graph::print(g)).c_str());
    }
    for (const char* op : {"fused_reshape", "fused_slice", "fused_concat"})
      QVERIFY2(after[op] > 10 && before[op] - after[op] > 10, fmt::format("{}: {} before, {} left", op, before[op], after[op]).c_str());
  }
};

QTEST_APPLESS_MAIN(ViewsTest)
#include "views_test.moc"
