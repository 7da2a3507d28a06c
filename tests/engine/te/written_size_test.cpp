// SPDX-License-Identifier: Apache-2.0
#include "engine/te/written_size.h"

#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/ir/visit.h"

using namespace tw;
using namespace tw::te;

namespace {

using ir::Expr;

/// Every read of an array of the dag's own replaced by its definition, all the way down: what written_size counts without doing it.
Expr written(const Dag& dag, const Expr& e) {
  const Expr inner = ir::map_children(e, [&](const Expr& c) { return written(dag, c); });
  const auto* l = ir::as<ir::LoadNode>(inner);
  if (!l) return inner;
  const Op& op = dag.ops[static_cast<size_t>(dag.op_of(l->buffer.get()))];
  if (op.is_placeholder()) return inner;
  ir::VarMap map;
  for (size_t d = 0; d < op.axes.size(); ++d) map.emplace(op.axes[d].var.get(), l->indices[d]);
  return ir::substitute(written(dag, *op.body), map);
}

double nodes_of(const Expr& e) {
  double n = 0;
  ir::walk(e, [&](const Expr&) { ++n; });
  return n;
}

WrittenSize size_of(const Dag& dag, int last) {
  std::vector<WrittenSize> sizes;
  for (int i = 0; i <= last; ++i) {
    const Op& op = dag.ops[static_cast<size_t>(i)];
    sizes.push_back(op.is_placeholder() ? WrittenSize::stored(op.output->shape.size())
                                        : written_size(op, [&](const ir::BufferNode& b) { return sizes[static_cast<size_t>(dag.op_of(&b))]; }));
  }
  return sizes.back();
}

/// A few elementwise definitions of random form over arrays of two dimensions: each reads earlier ones once to three times, at its own place, turned, or at
/// places that are read themselves.
DagPtr random_chain(Rng& rng) {
  DagBuilder b;
  std::vector<Tensor> all{b.placeholder("x", {8, 8}, kFloat32)};
  const Tensor places = b.placeholder("places", {8, 8}, kInt64);
  for (int k = 0; k < 4; ++k)
    all.push_back(b.compute("y", {8, 8}, [&](const Indices& i) {
      std::optional<Expr> sum;
      for (uint64_t reads = 1 + rng.uniform(2); reads > 0; --reads) {
        const Tensor& from = all[rng.uniform(all.size())];
        const uint64_t form = rng.uniform(3);
        const Expr read = form == 0 ? from(i[0], i[1]) : form == 1 ? from(i[1], i[0] + i[1]) : from(places(i[0] + i[1], i[1]), i[0]);
        sum = sum ? *sum * read : read;
      }
      return *sum;
    }));
  return std::move(b).finish({all.back()});
}

}  // namespace

class WrittenSizeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void countsWhatWritingGives() {
    Rng rng(5);
    int counted = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const DagPtr dag = random_chain(rng);
      const int last = dag->outputs[0];
      const Op& op = dag->ops[static_cast<size_t>(last)];
      const WrittenSize size = size_of(*dag, last);
      if (size.nodes > 20'000) continue;  // than which nobody would wait to be written
      ++counted;
      const Expr whole = written(*dag, *op.body);
      QCOMPARE(size.nodes, nodes_of(whole));
      for (size_t d = 0; d < op.axes.size(); ++d) {
        double uses = 0;
        ir::walk(whole, [&](const Expr& e) { uses += e.get() == op.axes[d].var.get(); });
        QCOMPARE(size.uses[d], uses);
      }
    }
    QVERIFY(counted > 50);
  }

  /// What is shared in memory counts at every use, and is looked at once.
  void doublesWithoutWork() {
    const ir::Var i = ir::make_var("i");
    const ir::Buffer x = ir::make_buffer("x", kFloat32, {4});
    Expr e = ir::load(x, {ir::to_expr(i)});
    for (int k = 0; k < 2000; ++k) e = e + e;  // no walk would come to its end
    Op op{.name = "y", .output = ir::make_buffer("y", kFloat32, {4})};
    op.axes = {{i, 4, AxisKind::spatial}};
    op.body = e;
    const WrittenSize size = written_size(op, [](const ir::BufferNode& buffer) { return WrittenSize::stored(buffer.shape.size()); });
    QVERIFY(std::isinf(size.nodes) && size.nodes > kMostWrittenNodes);
  }
};

QTEST_APPLESS_MAIN(WrittenSizeTest)
#include "written_size_test.moc"
