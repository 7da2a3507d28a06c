// SPDX-License-Identifier: Apache-2.0
#include "engine/te/written_size.h"

#include <unordered_map>

#include "engine/ir/visit.h"

namespace tw::te {

namespace {

/// Sizes of expressions over the axes of one op. Shared subexpressions are looked at once and count at every use.
class Measure {
 public:
  Measure(const Op& op, const std::function<WrittenSize(const ir::BufferNode&)>& read) : read_(read) {
    for (const std::vector<Axis>* axes : {&op.axes, &op.reduce_axes})
      for (const Axis& a : *axes) axis_.emplace(a.var.get(), axis_.size());
  }

  const WrittenSize& of(const ir::Expr& e) {
    if (const auto it = known_.find(e.get()); it != known_.end()) return it->second;
    WrittenSize size = compute(e);
    return known_[e.get()] = std::move(size);
  }

 private:
  WrittenSize compute(const ir::Expr& e) {
    WrittenSize size{1, std::vector<double>(axis_.size(), 0)};
    if (const auto* v = ir::as<ir::VarNode>(e)) {
      if (const auto it = axis_.find(v); it != axis_.end()) size.uses[it->second] = 1;
      return size;
    }
    if (const auto* l = ir::as<ir::LoadNode>(e)) {
      const WrittenSize read = read_(*l->buffer);
      size.nodes = read.nodes;
      for (size_t d = 0; d < l->indices.size(); ++d) add(size, of(l->indices[d]), d < read.uses.size() ? read.uses[d] : 1, 1);
      return size;
    }
    ir::for_each_child(e, [&](const ir::Expr& c) { add(size, of(c), 1, 0); });
    return size;
  }
  /// `times` copies, each in place of `instead` nodes.
  static void add(WrittenSize& size, const WrittenSize& part, double times, double instead) {
    if (times == 0) return;
    size.nodes += times * (part.nodes - instead);
    for (size_t a = 0; a < size.uses.size(); ++a)
      if (part.uses[a] != 0) size.uses[a] += times * part.uses[a];
  }

  const std::function<WrittenSize(const ir::BufferNode&)>& read_;
  std::unordered_map<const ir::VarNode*, size_t> axis_;
  std::unordered_map<const ir::ExprNode*, WrittenSize> known_;
};

}  // namespace

WrittenSize written_size(const Op& op, const std::function<WrittenSize(const ir::BufferNode&)>& read) {
  WrittenSize size = Measure(op, read).of(*op.body);
  size.uses.resize(op.axes.size());
  return size;
}

}  // namespace tw::te
