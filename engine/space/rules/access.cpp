// SPDX-License-Identifier: Apache-2.0
#include "engine/space/rules/access.h"

#include <algorithm>
#include <numeric>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"

namespace tw::space::rules {

std::vector<Read> reads_of(const ir::Expr& body, const std::vector<te::Axis>& axes) {
  std::vector<Read> out;
  arith::Analyzer analyzer;
  for (const te::Axis& a : axes) analyzer.bind(a.var.get(), {0, a.extent - 1});
  ir::walk(body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    ir::Expr flat = ir::index(0);
    for (size_t d = 0; d < l->indices.size(); ++d) flat = flat * l->buffer->shape[d] + l->indices[d];
    // Simplified first: dimensions that lie one behind the other and are joined by a reshape are one again.
    Read read{l->buffer.get(), std::vector<std::optional<int64_t>>(axes.size(), 0), analyzer.simplify(flat)};
    for (const auto& term : analyzer.linear(read.address).terms)
      for (size_t k = 0; k < axes.size(); ++k) {
        const ir::VarNode* var = axes[k].var.get();
        if (term.atom.get() == var)
          read.strides[k] = term.coeff;
        else if (ir::uses_var(term.atom, var))
          read.strides[k] = std::nullopt;
      }
    out.push_back(std::move(read));
  });
  return out;
}

bool computes_with(const ir::Expr& body, const ir::VarNode* var) {
  if (const auto* v = ir::as<ir::VarNode>(body)) return v == var;
  if (ir::as<ir::LoadNode>(body)) return false;
  bool found = false;
  ir::for_each_child(body, [&](const ir::Expr& c) { found = found || computes_with(c, var); });
  return found;
}

bool worked_out(const ir::LoadNode& load) {
  bool found = false;
  for (const ir::Expr& index : load.indices) ir::walk(index, [&](const ir::Expr& x) { found = found || ir::as<ir::LoadNode>(x) != nullptr; });
  return found;
}

bool looked_up(const ir::LoadNode& load, const ir::Var& axis) {
  bool found = false;
  for (const ir::Expr& index : load.indices)
    ir::walk(index, [&](const ir::Expr& i) {
      const auto* table = ir::as<ir::LoadNode>(i);
      found = found || (table && std::any_of(table->indices.begin(), table->indices.end(), [&](const ir::Expr& at) { return ir::uses_var(at, axis.get()); }));
    });
  return found;
}

bool looks_up(const ir::Expr& body, const ir::Var& axis) {
  bool found = false;
  ir::walk(body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    found = found || (l && looked_up(*l, axis));
  });
  return found;
}

size_t joined_from(const ir::Expr& body, const std::vector<te::Axis>& axes) {
  if (axes.empty()) return 0;
  const std::vector<Read> reads = reads_of(body, axes);
  // The innermost axis that has a second element is the run's own; those of one element are walked along with any other.
  size_t own = axes.size() - 1;
  while (own > 0 && axes[own].extent == 1) --own;
  if (computes_with(body, axes[own].var.get())) return own;
  int64_t length = axes[own].extent;
  size_t first = own;
  for (; first > 0; --first) {
    const te::Axis& outer = axes[first - 1];
    const bool joins = std::all_of(reads.begin(), reads.end(), [&](const Read& r) {
      return r.strides[first - 1] && r.strides[own] && (*r.strides[first - 1] == *r.strides[own] * length || outer.extent == 1);
    });
    if (!joins || computes_with(body, outer.var.get())) break;
    length *= outer.extent;
  }
  return first;
}

int64_t unbroken_run(const ir::Expr& body, const std::vector<te::Axis>& axes, const te::Axis& along, int64_t lanes) {
  int64_t run = 0;
  bool begins = true;
  for (const Read& r : reads_of(body, axes))
    ir::walk(r.address, [&](const ir::Expr& e) {
      const auto* n = ir::as<ir::BinaryNode>(e);
      if (!n || (n->op != ir::BinaryOp::floor_div && n->op != ir::BinaryOp::floor_mod)) return;
      const auto* shifted = ir::as<ir::BinaryNode>(n->a);
      const bool behind = shifted && shifted->op == ir::BinaryOp::add && shifted->a.get() == along.var.get() && ir::as_int(shifted->b);
      if (n->a.get() != along.var.get() && !behind) return;
      if (const auto by = ir::as_int(n->b); by && *by > 1) {
        run = std::gcd(run, *by);
        begins = begins && !behind;
      }
    });
  return run == 0 || run > along.extent || (!begins && run > lanes) ? along.extent : run;
}

int64_t iterations(const te::Op& op) {
  int64_t n = 1;
  for (const te::Axis& a : op.axes) n *= a.extent;
  for (const te::Axis& a : op.reduce_axes) n *= a.extent;
  return n;
}

}  // namespace tw::space::rules
