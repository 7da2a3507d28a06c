// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"
#include "engine/space/rules/threads.h"
#include "engine/space/template.h"
#include "engine/te/written_size.h"

namespace tw::space {

namespace {

/// A reduction's operand is computed again for each of its reads up to this many times, if that is cheap: padding, sums, casts. What is fetched from where a
/// table says is not as cheap on processors.
constexpr int64_t kMaxRepeats = 16, kMaxFetches = 4;

int64_t elements(const te::Op& op) { return op.output->num_elements(); }

/// Of so many elements of a stage one is read: then it is fetched from where it came from. That costs two to four times as much as moving it beside all others,
/// of 16 to 256 channels of images of 1,600 to 40,000 pixels on a Zen 5.
constexpr int64_t kUnread = 4;

/// Whether a stage only moves elements that are fetched one by one: each where a table says, and too few beside each other to be read together or few of all.
bool fetched_singly(const te::Dag& dag, int i) {
  const te::Op& op = dag.ops[static_cast<size_t>(i)];
  if (!ir::as<ir::LoadNode>(*op.body) || op.axes.empty()) return false;
  bool singly = true;
  int64_t fetched = 0;
  for (const int reader : dag.consumers(i)) {
    const te::Op& r = dag.ops[static_cast<size_t>(reader)];
    ir::walk(*r.body, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l || l->buffer.get() != op.output.get()) return;
      singly = singly && rules::worked_out(*l);
      fetched += rules::iterations(r);
    });
  }
  return singly && (op.axes.back().extent < rules::kFewestInRow || fetched <= elements(op) / kUnread);
}

/// Whether a stage disappears into its reader.
bool inlines(const te::Dag& dag, int i, int64_t most_fetches) {
  const te::Op& op = dag.ops[static_cast<size_t>(i)];
  if (op.is_placeholder() || op.reducer != te::Reducer::none || op.tag == rules::kRunning || op.tag == rules::kCompared) return false;
  if (std::find(dag.outputs.begin(), dag.outputs.end(), i) != dag.outputs.end()) return false;
  const std::vector<int> readers = dag.consumers(i);
  if (fetched_singly(dag, i)) return true;
  if (readers.size() != 1) return false;
  bool costly = false, fetched = false;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* n = ir::as<ir::BinaryNode>(e);
    const auto* l = ir::as<ir::LoadNode>(e);
    fetched = fetched || (l && rules::worked_out(*l));
    costly = costly || ir::as<ir::CallNode>(e) || (n && n->op == ir::BinaryOp::div);
  });
  const int64_t repeats = rules::iterations(dag.ops[static_cast<size_t>(readers.front())]) / std::max<int64_t>(1, elements(op));
  return repeats <= (costly    ? 1
                     : fetched ? most_fetches
                               : kMaxRepeats) ||
         (!costly && dag.ops[static_cast<size_t>(readers.front())].reducer == te::Reducer::none);
}

/// The stages that disappear into their readers. What would make an expression too large stays.
std::vector<int> inlined(const te::Dag& dag, int64_t most_fetches) {
  std::vector<bool> chosen(dag.ops.size());
  std::vector<te::WrittenSize> sizes;
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    const te::Op& op = dag.ops[i];
    if (op.is_placeholder()) {
      sizes.push_back(te::WrittenSize::stored(op.output->shape.size()));
      continue;
    }
    const auto read = [&](const ir::BufferNode& b) {
      const auto j = static_cast<size_t>(dag.op_of(&b));
      return chosen[j] ? sizes[j] : te::WrittenSize::stored(b.shape.size());
    };
    te::WrittenSize size = te::written_size(op, read);
    if (size.nodes > te::kMostWrittenNodes) {
      for (size_t j = 0; j < i; ++j)
        if (const std::vector<int> readers = dag.consumers(static_cast<int>(j)); std::count(readers.begin(), readers.end(), static_cast<int>(i)) > 0)
          chosen[j] = false;
      size = te::written_size(op, read);
    }
    sizes.push_back(std::move(size));
    chosen[i] = inlines(dag, static_cast<int>(i), most_fetches);
  }
  std::vector<int> out;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) out.push_back(static_cast<int>(i));
  return out;
}

/// Whether a stage picks elements along rows, one by one, which its reader then looks up whole and more often than there are such rows: images that grow first
/// along their rows and then across.
bool picks_for_rows(const te::Op& op, const te::Op& reader) {
  const ir::Var &along = op.axes.back().var, &last = reader.axes.back().var;
  if (!rules::looks_up(*op.body, along)) return false;
  int64_t rows = 0;
  bool whole = true;
  ir::walk(*reader.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || l->buffer.get() != op.output.get()) return;
    ++rows;
    whole = whole && rules::worked_out(*l) && !rules::looked_up(*l, last) && l->indices.back().get() == last.get();
  });
  return whole && 4 * rows * rules::iterations(reader) >= 5 * elements(op);
}

/// Whether a stage makes rows that its reader looks up: each is computed once, not for every place where it is read.
bool by_rows(const te::Dag& dag, int i) {
  const te::Op& op = dag.ops[static_cast<size_t>(i)];
  const std::vector<int> readers = dag.consumers(i);
  const bool output = std::find(dag.outputs.begin(), dag.outputs.end(), i) != dag.outputs.end();
  if (op.is_placeholder() || op.reducer != te::Reducer::none || output || readers.size() != 1) return false;
  const te::Op& reader = dag.ops[static_cast<size_t>(readers.front())];
  return reader.reducer == te::Reducer::none && !reader.axes.empty() &&
         ((!op.axes.empty() && picks_for_rows(op, reader)) || rules::looks_up_in_rows(*reader.body, reader.axes.back().var, op.output.get()));
}

/// What is kept between stages lies as the result does, if that is in blocks: vectors run along them in both.
void keep_blocks(schedule::Builder& b) {
  if (b.outputs().size() != 1) return;
  const schedule::Stage result = b.at(b.outputs().front());
  if (result.layout.empty()) return;
  for (int i = 0; i < b.outputs().front(); ++i) {
    const schedule::Stage& st = b.at(i);
    if (schedule::has_loops(st) && st.op.reducer == te::Reducer::none && st.layout.empty() && st.op.output->shape == result.op.output->shape)
      b.layout(i, result.layout);
  }
}

/// What the rules for processors may be asked to leave out.
enum class Rules : uint8_t { all, without_blocks, without_tiles, none };

Expected<schedule::Schedule> schedule_for_cores(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts,
                                                const rules::Choices& how, Rules used) {
  schedule::Builder b(dag);
  for (const schedule::LayoutStep& l : layouts) b.layout(l.stage, l.pieces);
  // In blocks each place is a vector that is fetched whole.
  const bool in_rows = used != Rules::none && std::all_of(b.outputs().begin(), b.outputs().end(), [&](int o) { return b.at(o).layout.empty(); });
  const auto kept = [&](int i) { return in_rows && by_rows(*dag, i); };
  for (const int i : inlined(*dag, kMaxFetches))
    if (!kept(i)) b.compute_inline(i);
  if (used == Rules::none) return std::move(b).finish();
  if (used == Rules::all) keep_blocks(b);
  std::vector<const ir::BufferNode*> done;
  if (b.ok()) done = rules::schedule_scatters(b, target);
  if (b.ok() && done.empty()) done = rules::split_reductions(b, target, how);
  if (used == Rules::all && b.ok() && done.empty()) {
    done = rules::schedule_lookups(b, target);
    if (b.outputs().size() == 1 && std::find(done.begin(), done.end(), b.at(b.outputs().front()).op.output.get()) != done.end()) return std::move(b).finish();
  }
  if (used == Rules::all && b.ok() && rules::schedule_running(b, target)) return std::move(b).finish();
  if (used == Rules::all && b.ok() && rules::schedule_blocks(b, target, how)) return std::move(b).finish();
  if (used != Rules::without_tiles && b.ok() && rules::schedule_rows(b, target, how, done)) return std::move(b).finish();
  for (int i = 0; b.ok() && i < b.num_stages(); ++i) {
    const schedule::Stage& st = b.at(i);
    if (!schedule::has_loops(st) || kept(st.dag_op)) continue;
    if (std::find(done.begin(), done.end(), st.op.output.get()) != done.end()) continue;
    i = st.op.reducer != te::Reducer::none ? rules::schedule_reduction(b, i, target, how) : rules::schedule_elementwise(b, i, target);
  }
  for (int i = 0; b.ok() && i < b.num_stages(); ++i)  // those that no reader has taken into its rows
    if (const schedule::Stage& st = b.at(i); schedule::has_loops(st) && kept(st.dag_op) && st.location == schedule::ComputeLocation::root)
      rules::schedule_elementwise(b, i, target);
  return std::move(b).finish();
}

}  // namespace

schedule::Builder rules::start_on_threads(const te::DagPtr& dag, const std::optional<Crossing>& crossing) {
  schedule::Builder b(dag);
  for (const int i : inlined(*dag, kMaxRepeats))
    if (!(crossing && dag->ops[static_cast<size_t>(i)].name == crossing->source)) b.compute_inline(i);
  return b;
}

Expected<schedule::Schedule> rules::schedule_dag(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts,
                                                 const Choices& how) {
  if (target.gpu) {
    const std::optional<Crossing> crossing = layouts.empty() ? find_crossing(*dag) : std::nullopt;
    schedule::Builder b = start_on_threads(dag, crossing);
    for (const schedule::LayoutStep& l : layouts) b.layout(l.stage, l.pieces);
    schedule_by_threads(b, target, crossing, {});
    return std::move(b).finish();
  }
  // A rule that does not fit a dag after all gives way to the next, and all of them to plain loops. What is wrong with the layouts stays wrong.
  for (const Rules used : {Rules::all, Rules::without_blocks, Rules::without_tiles})
    if (auto s = schedule_for_cores(dag, target, layouts, how, used)) return s;
  return schedule_for_cores(dag, target, layouts, how, Rules::none);
}

Expected<schedule::Schedule> rule_schedule(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts) {
  return rules::schedule_dag(dag, target, layouts, {});
}

std::optional<Fallback> fallback(const te::DagPtr& dag, const Target& target) {
  const std::vector<const Template*> all = alternatives(*dag, target);
  for (size_t k = all.size(); k-- > 0;) {
    const ConfigEntity point = all[k]->fallback(*dag, target);
    if (point.index() < 0) continue;
    if (auto s = all[k]->apply(dag, target, point)) return Fallback{all[k], *std::move(s)};
  }
  return std::nullopt;
}

schedule::Schedule default_schedule(const te::DagPtr& dag, const Target& target) {
  if (auto f = fallback(dag, target)) return std::move(f->schedule);
  auto s = rule_schedule(dag, target, {});
  TW_ASSERT(s.has_value(), s.error().text());
  return *std::move(s);
}

}  // namespace tw::space
