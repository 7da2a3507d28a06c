// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/loops.h"

#include <algorithm>

#include "engine/ir/visit.h"

namespace tw::schedule {

using ir::Expr;

int position_of(const Stage& stage, const ir::VarNode* var) {
  for (size_t i = 0; i < stage.iters.size(); ++i)
    if (stage.iters[i].var.get() == var) return static_cast<int>(i);
  return -1;
}

int root_of(std::span<const Stage> stages, int stage) {
  while (stages[static_cast<size_t>(stage)].location == ComputeLocation::at) stage = stages[static_cast<size_t>(stage)].at_stage;
  return stage;
}

std::vector<LoopRef> loops_around(std::span<const Stage> stages, int stage) {
  std::vector<LoopRef> out;
  const auto add = [&](int s, size_t loops, bool threads) {
    const Stage& st = stages[static_cast<size_t>(s)];
    for (size_t k = loops; k-- > 0;)
      if (threads || !(is_thread(st.iters[k].annotation) || st.iters[k].annotation == Annotation::vthread)) out.push_back({s, k});
  };
  const Stage* st = &stages[static_cast<size_t>(stage)];
  add(stage, st->iters.size(), true);
  bool threads = true;
  while (st->location == ComputeLocation::at) {
    threads = threads && st->scope != ir::Scope::shared;
    const Stage& outer = stages[static_cast<size_t>(st->at_stage)];
    add(st->at_stage, static_cast<size_t>(position_of(outer, st->at_iter->get()) + 1), threads);
    st = &outer;
  }
  return out;
}

void resolve_scopes(std::vector<Stage>& stages) {
  std::vector<bool> launched(stages.size(), false);  // by root stage
  for (size_t i = 0; i < stages.size(); ++i) {
    if (!has_loops(stages[i])) continue;
    for (const Iter& it : stages[i].iters)
      if (is_thread(it.annotation) || is_block(it.annotation)) launched[static_cast<size_t>(root_of(stages, static_cast<int>(i)))] = true;
  }
  // What a stage is computed in comes after it, and is decided first.
  for (size_t i = stages.size(); i-- > 0;) {
    Stage& st = stages[i];
    if (st.op.is_placeholder()) continue;
    const bool in_block = st.location == ComputeLocation::at && launched[static_cast<size_t>(root_of(stages, static_cast<int>(i)))];
    if (!in_block && st.scope == ir::Scope::shared) st.scope = ir::Scope::global;  // no block to share it in
    if (!in_block || st.scope != ir::Scope::global) continue;
    const auto by_threads = [&](te::AxisKind kind) {
      return std::any_of(st.iters.begin(), st.iters.end(), [&](const Iter& it) { return is_thread(it.annotation) && it.kind == kind; });
    };
    const std::vector<LoopRef> around = loops_around(stages, static_cast<int>(i));
    const bool inside = std::any_of(around.begin(), around.end(), [&](const LoopRef& l) {
      return l.stage != static_cast<int>(i) && is_thread(stages[static_cast<size_t>(l.stage)].iters[l.loop].annotation);
    });
    st.scope = !by_threads(te::AxisKind::spatial) && (inside || by_threads(te::AxisKind::reduce)) ? ir::Scope::local : ir::Scope::shared;
  }
}

Extents axis_extents(const Stage& st) {
  Extents out;
  for (const std::vector<te::Axis>* axes : {&st.op.axes, &st.op.reduce_axes})
    for (const te::Axis& a : *axes) out[a.var.get()] = a.extent;
  return out;
}

Extents loop_extents(const Stage& st, Extents of_axes, bool shrink) {
  Extents out = std::move(of_axes);
  for (const Relation& r : st.relations) {
    if (const auto* split = std::get_if<SplitRelation>(&r)) {
      int64_t rest = out.at(split->parent.get());
      for (size_t k = split->lengths.size(); k-- > 0;) {
        const int64_t inner = shrink ? std::max<int64_t>(1, std::min(split->lengths[k], rest)) : split->lengths[k];
        rest = (rest + inner - 1) / inner;
        out[split->children[k + 1].get()] = inner;
      }
      out[split->children[0].get()] = rest;
    } else {
      const auto& fuse = std::get<FuseRelation>(r);
      int64_t product = 1;
      for (const ir::Var& parent : fuse.parents) product *= out.at(parent.get());
      out[fuse.child.get()] = product;
    }
  }
  return out;
}

LoopValues loop_values(const Stage& st, const Extents& extents, ir::VarMap of_loops) {
  LoopValues out{std::move(of_loops), {}};
  for (size_t i = st.relations.size(); i-- > 0;) {
    if (const auto* split = std::get_if<SplitRelation>(&st.relations[i])) {
      Expr v = out.value.at(split->children[0].get());
      int64_t covered = extents.at(split->children[0].get());
      for (size_t k = 1; k < split->children.size(); ++k) {
        const int64_t inner = extents.at(split->children[k].get());
        v = v * inner + out.value.at(split->children[k].get());
        covered *= inner;
      }
      const int64_t real = extents.at(split->parent.get());
      if (covered > real) out.surplus.emplace_back(v, real);
      out.value.insert_or_assign(split->parent.get(), v);
    } else {
      const auto& fuse = std::get<FuseRelation>(st.relations[i]);
      Expr rest = out.value.at(fuse.child.get());
      size_t outermost = 0;
      while (outermost + 1 < fuse.parents.size() && extents.at(fuse.parents[outermost].get()) == 1) ++outermost;
      for (size_t k = fuse.parents.size(); k-- > 0;) {
        const int64_t n = extents.at(fuse.parents[k].get());
        out.value.insert_or_assign(fuse.parents[k].get(), n == 1 ? ir::index(0) : k == outermost ? rest : ir::floor_mod(rest, ir::index(n)));
        rest = ir::floor_div(rest, ir::index(n));
      }
    }
  }
  return out;
}

std::vector<int> readers_of(std::span<const Stage> stages, const ir::BufferNode& buffer) {
  std::vector<int> out;
  for (size_t j = 0; j < stages.size(); ++j) {
    const te::Op& op = stages[j].op;
    if (!op.body) continue;
    bool reads = false;
    ir::walk(*op.body, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      reads = reads || (l && l->buffer.get() == &buffer);
    });
    if (reads) out.push_back(static_cast<int>(j));
  }
  return out;
}

std::vector<int> readers_of(std::span<const Stage> stages, int stage) { return readers_of(stages, *stages[static_cast<size_t>(stage)].op.output); }

std::vector<int> reading_loops(std::span<const Stage> stages, int stage) {
  std::vector<int> out;
  for (const int r : readers_of(stages, stage)) {
    if (stages[static_cast<size_t>(r)].location != ComputeLocation::inlined) {
      out.push_back(r);
      continue;
    }
    const std::vector<int> theirs = reading_loops(stages, r);
    out.insert(out.end(), theirs.begin(), theirs.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Expr replace_reads(const Expr& body, const ir::BufferNode* from, const std::function<Expr(const std::vector<Expr>&)>& with) {
  const Expr e = ir::map_children(body, [&](const Expr& c) { return replace_reads(c, from, with); });
  const auto* l = ir::as<ir::LoadNode>(e);
  return l && l->buffer.get() == from ? with(l->indices) : e;
}

namespace {

Expr with_definition(const Expr& body, const te::Op& inlined) {
  return replace_reads(body, inlined.output.get(), [&](const std::vector<Expr>& indices) {
    ir::VarMap map;
    for (size_t k = 0; k < inlined.axes.size(); ++k) map.emplace(inlined.axes[k].var.get(), indices[k]);
    return ir::substitute(*inlined.body, map);
  });
}

}  // namespace

Expr whole_body(std::span<const Stage> stages, int stage) {
  Expr body = *stages[static_cast<size_t>(stage)].op.body;
  for (size_t j = static_cast<size_t>(stage); j-- > 0;)
    if (stages[j].location == ComputeLocation::inlined) body = with_definition(body, stages[j].op);
  return body;
}

void inline_stages(std::vector<Stage>& stages) {
  // Producers first, so that what a chain of them defines is written once.
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].location != ComputeLocation::inlined) continue;
    for (size_t j = i + 1; j < stages.size(); ++j)
      if (stages[j].op.body) stages[j].op.body = with_definition(*stages[j].op.body, stages[i].op);
  }
}

}  // namespace tw::schedule
