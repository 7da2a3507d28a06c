// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "engine/ir/visit.h"
#include "engine/te/dag.h"
#include "engine/te/landings.h"
#include "engine/te/unread.h"

namespace tw::te {

namespace {

/// Counts operations on data in one evaluation of a body. Shared subexpressions count at every use, as they print.
class Counter {
 public:
  int64_t operations(const ir::Expr& e) { return count(e).operations; }
  int64_t functions(const ir::Expr& e) { return count(e).functions; }

 private:
  struct Count {
    int64_t operations = 0;
    int64_t functions = 0;  ///< those of them that are calls
    bool data = false;      ///< depends on array elements or is a float
  };

  Count count(const ir::Expr& e) {
    if (const auto it = memo_.find(e.get()); it != memo_.end()) return it->second;
    return memo_[e.get()] = compute(e);
  }

  Count compute(const ir::Expr& e) {
    if (ir::as<ir::LoadNode>(e)) return {0, 0, true};
    Count c{0, 0, e->dtype.is_float()};
    ir::for_each_child(e, [&](const ir::Expr& child) {
      const Count k = count(child);
      c.operations += k.operations;
      c.functions += k.functions;
      c.data = c.data || k.data;
    });
    const auto* b = ir::as<ir::BinaryNode>(e);
    const bool logical = b && (b->op == ir::BinaryOp::and_ || b->op == ir::BinaryOp::or_);
    const bool call = ir::as<ir::CallNode>(e) != nullptr;
    if (c.data && ((b && !logical) || call)) ++c.operations;
    c.functions += c.data && call;
    return c;
  }

  std::unordered_map<const ir::ExprNode*, Count> memo_;
};

/// Evaluations of the op's body in one run that count: of terms that land on a place each, once.
int64_t points_of(const Op& op) {
  int64_t points = op.output->num_elements();
  for (const Axis& a : op.reduce_axes) points *= a.extent;
  if (const auto landings = landings_of(op))
    for (const size_t k : landings->places) points /= std::max<int64_t>(1, op.axes[k].extent);
  return points;
}

}  // namespace

int64_t flops(const Dag& dag) {
  int64_t total = 0;
  for (const Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    // Bodies whose terms neighbours share, as running sums, say how many are left.
    const auto shared = op.attrs.find("operations");
    int64_t each = Counter().operations(*op.body);
    if (shared != op.attrs.end() && !shared->second.empty()) each = std::clamp<int64_t>(shared->second.front(), 0, each);
    total += points_of(op) * (each + (op.reducer == Reducer::none ? 0 : 1));
  }
  return total;
}

int64_t function_calls(const Dag& dag) {
  int64_t total = 0;
  for (const Op& op : dag.ops)
    if (!op.is_placeholder()) total += points_of(op) * Counter().functions(*op.body);
  return total;
}

int64_t io_bytes(const Dag& dag) {
  int64_t total = 0;
  for (const Op& op : dag.ops)
    if (op.is_placeholder()) total += op.output->bytes();
  for (const int o : dag.outputs) total += dag.ops[static_cast<size_t>(o)].output->bytes();
  return total - unread_bytes(dag);
}

}  // namespace tw::te
