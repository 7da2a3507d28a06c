// SPDX-License-Identifier: Apache-2.0
#include "engine/space/access.h"

#include <algorithm>

namespace tw::space {

using ir::Expr;
using schedule::ComputeLocation;

namespace {

/// The variable of an index v, v + c, c + v or v - c; null for others.
const ir::VarNode* shifted_var(const Expr& e) {
  if (const auto* v = ir::as<ir::VarNode>(e)) return v;
  const auto* b = ir::as<ir::BinaryNode>(e);
  if (!b) return nullptr;
  if ((b->op == ir::BinaryOp::add || b->op == ir::BinaryOp::sub) && ir::as_int(b->b)) return ir::as<ir::VarNode>(b->a);
  if (b->op == ir::BinaryOp::add && ir::as_int(b->a)) return ir::as<ir::VarNode>(b->b);
  return nullptr;
}

template <class Node>
bool contains(const Expr& e, const std::function<bool(const Node&)>& matches) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* n = ir::as<Node>(x);
    found = found || (n && matches(*n));
  });
  return found;
}

}  // namespace

Access::Access(std::span<const schedule::Stage> stages) : stages_(stages), read_(stages.size()), reads_(stages.size()), read_by_(stages.size()) {
  std::map<const ir::BufferNode*, int> stage_of;
  for (size_t i = 0; i < stages.size(); ++i) stage_of[stages[i].op.output.get()] = static_cast<int>(i);
  for (size_t i = 0; i < stages.size(); ++i) {
    if (!stages[i].op.body) continue;
    ir::walk(*stages[i].op.body, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l) return;
      const int source = stage_of.at(l->buffer.get());
      read_[i][source].indices.push_back(l->indices);
      reads_[i].insert(source);
      read_by_[at(source)].insert(static_cast<int>(i));
    });
  }
}

Access::Simple Access::simple_reads(int reader, const std::vector<Expr>& indices) const {
  const std::vector<te::Axis>& axes = stage(reader).op.axes;
  Simple out;
  std::vector<size_t> found;
  for (const Expr& index : indices) {
    if (ir::as_int(index)) continue;
    const ir::VarNode* var = shifted_var(index);
    const auto axis = std::find_if(axes.begin(), axes.end(), [&](const te::Axis& a) { return a.var.get() == var; });
    if (axis == axes.end()) return {.simple = false};
    found.push_back(static_cast<size_t>(axis - axes.begin()));
  }
  out.same_order = std::is_sorted(found.begin(), found.end());
  const std::set<size_t> different(found.begin(), found.end());
  out.duplicated = different.size() < found.size();
  // An axis of one iteration may stand as the 0 that it is.
  for (size_t a = 0; a < axes.size(); ++a) out.missing = out.missing || (axes[a].extent > 1 && !different.contains(a));
  return out;
}

Access::Simple Access::simple_reads(int reader, int source) const {
  Simple all;
  for (const std::vector<Expr>& indices : reads_of(reader, source).indices) {
    const Simple one = simple_reads(reader, indices);
    all.simple = all.simple && one.simple;
    all.missing = all.missing || one.missing;
    all.duplicated = all.duplicated || one.duplicated;
    all.same_order = all.same_order && one.same_order;
  }
  return all;
}

bool Access::is_strictly_inlineable(int i) const {
  const te::Op& op = stage(i).op;
  if (op.is_placeholder()) return false;
  for (const int source : direct_producers(i)) {
    const Simple reads = simple_reads(i, source);
    if (!reads.simple || !reads.same_order || reads.duplicated) return false;
  }
  return !contains<ir::CallNode>(*op.body, [](const ir::CallNode& c) { return c.function == ir::Intrinsic::exp; }) &&
         !contains<ir::SelectNode>(*op.body, [](const ir::SelectNode&) { return true; });
}

bool Access::needs_tiling(int i, bool exact) const {
  const te::Op& op = stage(i).op;
  if (op.is_placeholder() || op.attrs.contains(te::kConstTensorLoops)) return false;
  int lacking = 0, complete = 0;
  for (const auto& [source, reads] : read_[at(i)]) {
    bool lacks = false;
    for (const te::Axis& a : op.axes) {
      const bool used = std::any_of(reads.indices.begin(), reads.indices.end(), [&](const std::vector<Expr>& indices) {
        return std::any_of(indices.begin(), indices.end(), [&](const Expr& e) { return ir::uses_var(e, a.var.get()); });
      });
      lacks = lacks || (a.extent > 1 && !used);
    }
    (lacks ? lacking : complete) += 1;
  }
  if (lacking >= 1 && !op.reduce_axes.empty()) return true;
  return lacking >= 2 && (exact || complete == 0);
}

std::set<int> Access::consumers(int i) const {
  std::set<int> out;
  for (const int reader : read_by_[at(i)]) {
    if (stage(reader).location == ComputeLocation::inlined)
      out.merge(consumers(reader));
    else
      out.insert(reader);
  }
  return out;
}

std::set<int> Access::producers(int i) const {
  std::set<int> out;
  for (const int source : direct_producers(i)) {
    if (stage(source).location == ComputeLocation::inlined)
      out.merge(producers(source));
    else
      out.insert(source);
  }
  return out;
}

int Access::single_consumer(int i) const {
  const std::set<int> all = consumers(i);
  if (all.empty()) return -1;
  if (all.size() == 1) return *all.begin();
  const auto root = [&](int s) { return stage(s).location == ComputeLocation::at ? stage(s).at_stage : s; };
  const int common = root(*all.begin());
  return std::all_of(all.begin(), all.end(), [&](int s) { return root(s) == common; }) ? common : -1;
}

int Access::common_outer_of_pair(int source, int reader) const {
  const te::Op& from = stage(source).op;
  const te::Op& to = stage(reader).op;
  const size_t rank = std::min(from.output->shape.size(), to.axes.size());
  for (size_t d = 0; d < rank; ++d) {
    const bool in_step = from.output->shape[d] == to.axes[d].extent &&
                         std::all_of(reads_of(reader, source).indices.begin(), reads_of(reader, source).indices.end(), [&](const std::vector<Expr>& indices) {
                           return shifted_var(indices[d]) == to.axes[d].var.get() || (to.axes[d].extent == 1 && ir::as_int(indices[d]));
                         });
    if (!in_step) return static_cast<int>(d);
  }
  return static_cast<int>(rank);
}

std::optional<int> Access::common_outer_of_ways(int a, int b) const {
  if (a == b) return static_cast<int>(stage(a).op.axes.size());
  std::optional<int> least;
  for (const int reader : read_by_[at(a)]) {
    const std::optional<int> rest = common_outer_of_ways(reader, b);
    if (!rest) continue;
    const int here = std::min(common_outer_of_pair(a, reader), *rest);
    least = least ? std::min(*least, here) : here;
  }
  return least;
}

int Access::common_outer(int a, int b) const { return common_outer_of_ways(a, b).value_or(0); }

bool Access::elementwise_match(int a, int b) const {
  for (int source = a; source != b;) {
    if (read_by_[at(source)].size() != 1) return false;
    const int reader = *read_by_[at(source)].begin();
    const Simple reads = simple_reads(reader, source);
    if (stage(source).op.output->shape != stage(reader).op.output->shape || !reads.simple || reads.missing || reads.duplicated || !reads.same_order) return false;
    source = reader;
  }
  return true;
}

}  // namespace tw::space
