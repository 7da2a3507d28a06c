// SPDX-License-Identifier: Apache-2.0
#include "engine/te/smaller.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"

namespace tw::te {
namespace {

int64_t halved(int64_t extent, int64_t longest) {
  while (extent > longest) extent = (extent + 1) / 2;
  return extent;
}

/// Works out by how much each axis and each dimension gets shorter, readers before what they read.
class Shrinking {
 public:
  Shrinking(const Dag& dag, int64_t longest) : dag_(dag), longest_(longest) {}

  DagPtr run() {
    shorter_.resize(dag_.ops.size());
    known_.resize(dag_.ops.size(), false);
    for (size_t i = 0; i < dag_.ops.size(); ++i) shorter_[i].assign(dag_.ops[i].output->shape.size(), 0);
    for (const Op& op : dag_.ops)
      if (op.body) find_frozen(*op.body);
    for (size_t i = dag_.ops.size(); i-- > 0;) shrink(i);
    auto result = std::make_shared<Dag>();
    result->outputs = dag_.outputs;
    for (size_t i = 0; i < dag_.ops.size(); ++i) result->ops.push_back(rebuilt(i));
    return result;
  }

 private:
  bool is_output(size_t i) const { return std::find(dag_.outputs.begin(), dag_.outputs.end(), static_cast<int>(i)) != dag_.outputs.end(); }
  int64_t by(const ir::VarNode* v) const {
    const auto found = axes_.find(v);
    return found == axes_.end() ? 0 : found->second;
  }

  /// Axes in anything but sums of multiples, wherever they stand, keep their lengths.
  void find_frozen(const ir::Expr& e) {
    ir::walk(e, [&](const ir::Expr& x) {
      if (x->dtype != ir::kIndex) return;
      for (const auto& term : arith::Analyzer().linear(x).terms)
        if (!ir::as<ir::VarNode>(term.atom))
          ir::walk(term.atom, [&](const ir::Expr& part) {
            if (const auto* v = ir::as<ir::VarNode>(part)) frozen_.insert(v);
          });
    });
  }

  /// How much further down the largest value of an index lies; nothing of one that is no sum of multiples of axes.
  std::optional<int64_t> lowered(const ir::Expr& index) const {
    int64_t by_all = 0;
    for (const auto& term : arith::Analyzer().linear(index).terms) {
      const auto* v = ir::as<ir::VarNode>(term.atom);
      if (!v) return std::nullopt;
      if (term.coeff > 0) by_all += term.coeff * by(v);
    }
    return by_all;
  }

  void shrink(size_t i) {
    const Op& op = dag_.ops[i];
    for (size_t d = 0; d < op.axes.size(); ++d) {
      const Axis& a = op.axes[d];
      if (is_output(i) && !known_[i]) shorter_[i][d] = a.extent - halved(a.extent, longest_);
      if (frozen_.contains(a.var.get())) shorter_[i][d] = 0;
      axes_[a.var.get()] = shorter_[i][d];
    }
    for (const Axis& a : op.reduce_axes) axes_[a.var.get()] = frozen_.contains(a.var.get()) ? 0 : a.extent - halved(a.extent, longest_);
    if (!op.body) return;
    ir::walk(*op.body, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l) return;
      const auto from = static_cast<size_t>(dag_.op_of(l->buffer.get()));
      for (size_t d = 0; d < l->indices.size(); ++d) {
        const int64_t here = lowered(l->indices[d]).value_or(0);
        int64_t& all = shorter_[from][d];
        all = known_[from] ? std::min(all, here) : here;
      }
      known_[from] = true;
    });
  }

  ir::Expr rewritten(const ir::Expr& e) {
    if (const auto* b = ir::as<ir::BinaryNode>(e); b && b->a->dtype == ir::kIndex && (b->op == ir::BinaryOp::lt || b->op == ir::BinaryOp::le))
      if (const auto bound = ir::as_int(b->b))
        if (const auto less = lowered(b->a)) return ir::binary(b->op, rewritten(b->a), ir::index(*bound - *less));
    const ir::Expr mapped = ir::map_children(e, [&](const ir::Expr& c) { return rewritten(c); });
    const auto* l = ir::as<ir::LoadNode>(mapped);
    return l ? ir::load(buffers_.at(l->buffer.get()), l->indices) : mapped;
  }

  Op rebuilt(size_t i) {
    Op op = dag_.ops[i];
    const ir::Buffer old = op.output;
    std::vector<int64_t> shape = old->shape;
    for (size_t d = 0; d < shape.size(); ++d) shape[d] -= shorter_[i][d];
    op.output = ir::make_buffer(old->name, old->dtype, shape, old->scope);
    buffers_.emplace(old.get(), op.output);
    for (Axis& a : op.axes) a.extent -= by(a.var.get());
    for (Axis& a : op.reduce_axes) a.extent -= by(a.var.get());
    if (op.body) op.body = rewritten(*op.body);
    return op;
  }

  const Dag& dag_;
  int64_t longest_;
  std::vector<std::vector<int64_t>> shorter_;  ///< by op and dimension
  std::vector<bool> known_;                    ///< some reader has said what it needs
  std::unordered_map<const ir::VarNode*, int64_t> axes_;
  std::unordered_set<const ir::VarNode*> frozen_;
  std::unordered_map<const ir::BufferNode*, ir::Buffer> buffers_;
};

}  // namespace

DagPtr smaller(const Dag& dag, int64_t longest) { return Shrinking(dag, longest).run(); }

int64_t iterations(const Dag& dag) {
  int64_t all = 0;
  for (const Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    int64_t turns = 1;
    for (const auto* axes : {&op.axes, &op.reduce_axes})
      for (const Axis& a : *axes) turns *= a.extent;
    all += turns;
  }
  return all;
}

}  // namespace tw::te
