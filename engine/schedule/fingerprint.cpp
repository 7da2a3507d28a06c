// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "engine/base/hash.h"

namespace tw::schedule {
namespace {

/// What a loop counts: `steps` steps of `stride` elements of `source`, an axis or a product of loops.
struct Counts {
  std::string source;
  int64_t stride = 1, steps = 1;
  std::string text() const { return fmt::format("{}*{}:{}", source, stride, steps); }
};

using CountsOf = std::map<const ir::VarNode*, Counts>;

int64_t product(const std::vector<int64_t>& lengths, size_t from) {
  int64_t result = 1;
  for (size_t i = from; i < lengths.size(); ++i) result *= lengths[i];
  return result;
}

void follow(const SplitRelation& split, CountsOf& counts) {
  const Counts parent = counts.at(split.parent.get());
  for (size_t i = 0; i < split.children.size(); ++i) {
    const int64_t inner = product(split.lengths, i);
    const int64_t steps = i == 0 ? (parent.steps + inner - 1) / inner : split.lengths[i - 1];
    counts[split.children[i].get()] = {parent.source, parent.stride * inner, steps};
  }
}

void follow(const FuseRelation& fuse, CountsOf& counts) {
  std::vector<Counts> parts;
  for (const ir::Var& parent : fuse.parents) {
    const Counts& part = counts.at(parent.get());
    if (part.steps == 1 && fuse.parents.size() > 1) continue;
    const bool goes_on = !parts.empty() && parts.back().source == part.source && parts.back().stride == part.stride * part.steps;
    if (goes_on)
      parts.back() = {part.source, part.stride, parts.back().steps * part.steps};
    else
      parts.push_back(part);
  }
  if (parts.empty()) parts.push_back(fuse.parents.empty() ? Counts{"one"} : counts.at(fuse.parents.back().get()));
  if (parts.size() == 1) {
    counts[fuse.child.get()] = parts[0];
    return;
  }
  std::string source = "(";
  int64_t steps = 1;
  for (const Counts& p : parts) source += p.text() + " ", steps *= p.steps;
  counts[fuse.child.get()] = {source + ")", 1, steps};
}

CountsOf counts_of(const Stage& stage) {
  CountsOf counts;
  int axis = 0;
  for (const std::vector<te::Axis>* axes : {&stage.op.axes, &stage.op.reduce_axes})
    for (const te::Axis& a : *axes) counts[a.var.get()] = {fmt::format("a{}", axis++), 1, a.extent};
  for (const Relation& r : stage.relations) std::visit([&](const auto& relation) { follow(relation, counts); }, r);
  return counts;
}

class Printer {
 public:
  explicit Printer(const Schedule& s) : s_(s), inside_(s.stages().size()) {
    for (size_t i = 0; i < s.stages().size(); ++i)
      if (s.stages()[i].location == ComputeLocation::at) inside_[static_cast<size_t>(s.stages()[i].at_stage)].push_back(i);
  }

  std::string text() {
    for (size_t i = 0; i < s_.stages().size(); ++i)
      if (s_.stages()[i].location != ComputeLocation::at) print(i);
    return std::move(out_);
  }

 private:
  void print(size_t index) {
    const Stage& stage = s_.stages()[index];
    head(stage);
    if (stage.location == ComputeLocation::inlined) {
      out_ += " inlined\n";
      return;
    }
    out_ += "\n";
    const CountsOf counts = counts_of(stage);
    for (const Iter& loop : stage.iters) {
      std::vector<size_t> here;
      for (const size_t i : inside_[index])
        if (s_.stages()[i].at_iter->get() == loop.var.get()) here.push_back(i);
      const bool product = stage.warp_product && stage.warp_product->get() == loop.var.get();
      if (loop.extent == 1 && here.empty() && !product) continue;
      out_ += fmt::format("{}{} {}", product ? "warp " : "", annotation_name(loop.annotation), counts.at(loop.var.get()).text());
      out_ += here.empty() ? "\n" : " {\n";
      for (const size_t i : here) print(i);
      if (!here.empty()) out_ += "}\n";
    }
  }

  void head(const Stage& stage) {
    out_ += fmt::format("{} {} {}", stage.op.name, stage.dag_op, static_cast<int>(stage.scope));
    for (const LayoutStep::Piece& p : stage.layout) out_ += fmt::format(" {}/{}", p.dim, p.factor);
    for (const Alignment& a : stage.alignments) out_ += fmt::format(" align {} {} {}", a.dim, a.factor, a.offset);
    for (const te::Axis& a : stage.op.axes) out_ += fmt::format(" {}", a.extent);
    for (const te::Axis& a : stage.op.reduce_axes) out_ += fmt::format(" r{}", a.extent);
    if (stage.double_buffer) out_ += " double";
    if (stage.pipeline > 0) out_ += fmt::format(" pipeline {}", stage.pipeline);
    if (stage.auto_unroll >= 0) out_ += fmt::format(" unroll {}", stage.auto_unroll);
    if (stage.winograd > 0) out_ += fmt::format(" winograd {}", stage.winograd);
  }

  const Schedule& s_;
  std::vector<std::vector<size_t>> inside_;  ///< stages computed in loops of each stage
  std::string out_;
};

}  // namespace

uint64_t fingerprint(const Schedule& s) { return std::max<uint64_t>(1, stable_hash(Printer(s).text())); }

}  // namespace tw::schedule
