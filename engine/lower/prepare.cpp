// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/prepare.h"

#include <algorithm>
#include <functional>
#include <map>

#include "engine/arith/analyzer.h"
#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/schedule/loops.h"
#include "engine/schedule/primitive.h"
#include "engine/schedule/primitives/primitives.h"
#include "engine/te/written_size.h"

namespace tw::lower {

using ir::Expr;
using schedule::Stage;

namespace {

/// Whether an evaluation of `e` may divide by zero.
bool divides_integers(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* b = ir::as<ir::BinaryNode>(x);
    const bool division = b && (b->op == ir::BinaryOp::div || b->op == ir::BinaryOp::floor_div || b->op == ir::BinaryOp::floor_mod);
    found = found || (division && !x->dtype.is_float() && !ir::as_int(b->b));
  });
  return found;
}

/// Extents of an argument in memory, with the padding of last blocks.
std::vector<int64_t> padded_extents(const Stage& st) {
  std::vector<int64_t> out = st.op.output->shape;
  const std::vector<int64_t> blocks = schedule::block_lengths(st.layout, out.size());
  for (size_t d = 0; d < out.size(); ++d) out[d] = (out[d] + blocks[d] - 1) / blocks[d] * blocks[d];
  return out;
}

/// What may be read of the array that a buffer of the definitions stands for: an argument with its padding, or all that a stage before has been made to compute.
std::vector<int64_t> readable_extents(const std::vector<Stage>& stages, const ir::BufferNode& buffer) {
  const auto owner = std::find_if(stages.begin(), stages.end(), [&](const Stage& st) { return st.op.output.get() == &buffer; });
  if (owner == stages.end()) return buffer.shape;
  if (owner->op.is_placeholder()) return padded_extents(*owner);
  std::vector<int64_t> out;
  for (const te::Axis& a : owner->op.axes) out.push_back(a.extent);
  return out;
}

/// Whether every read of `e` whose place depends on `axis` stays inside the array of the stage or argument that it reads, the padding of last blocks included.
bool reads_stay_inside(const Expr& e, const ir::VarNode* axis, const std::vector<Stage>& stages, arith::Analyzer& facts) {
  if (const auto* l = ir::as<ir::LoadNode>(e)) {
    std::vector<int64_t> room;
    for (size_t d = 0; d < l->indices.size(); ++d) {
      if (!ir::uses_var(l->indices[d], axis)) continue;
      if (room.empty()) room = readable_extents(stages, *l->buffer);
      if (!(facts.prove(ir::index(0) <= l->indices[d]) && facts.prove(l->indices[d] < ir::index(room[d])))) return false;
    }
  }
  bool ok = true;
  if (const auto* s = ir::as<ir::SelectNode>(e); s && s->cond->dtype.is_scalar()) {
    ok = reads_stay_inside(s->cond, axis, stages, facts);
    const size_t mark = facts.push_fact(s->cond);
    ok = ok && reads_stay_inside(s->if_true, axis, stages, facts);
    facts.pop_facts(mark);
    if (const auto* c = ir::as<ir::BinaryNode>(s->cond); c && c->op == ir::BinaryOp::lt) facts.push_fact(c->b <= c->a);
    ok = ok && reads_stay_inside(s->if_false, axis, stages, facts);
    facts.pop_facts(mark);
    return ok;
  }
  ir::for_each_child(e, [&](const Expr& c) { ok = ok && reads_stay_inside(c, axis, stages, facts); });
  return ok;
}

/// What is known of a stage's axes alone.
arith::Analyzer facts_of(const Stage& st) {
  arith::Analyzer facts;
  for (const std::vector<te::Axis>* axes : {&st.op.axes, &st.op.reduce_axes})
    for (const te::Axis& a : *axes) facts.bind(a.var.get(), {0, a.extent - 1});
  return facts;
}

/// The value with its test around as little as must be: of a product only around the factor that reads outside, so that it remains a multiply-add. The surplus is
/// not read, whatever it is.
Expr tested(const Expr& value, const Expr& cond, const Expr& neutral, const std::function<bool(const Expr&)>& stays_inside) {
  const auto* product = ir::as<ir::BinaryNode>(value);
  if (product && product->op == ir::BinaryOp::mul) {
    if (stays_inside(product->a)) return product->a * tested(product->b, cond, neutral, stays_inside);
    if (stays_inside(product->b)) return tested(product->a, cond, neutral, stays_inside) * product->b;
  }
  return ir::select(cond, value, neutral);
}

/// Leaves out the tests of padded spatial axes where the surplus may be computed like the rest.
void drop_padding_tests(const std::vector<Stage>& stages, Stage& st) {
  if (st.paddings.empty() || divides_integers(*st.op.body)) return;
  struct Test {
    Expr cond, neutral;
    const ir::VarNode* axis;
  };
  std::vector<Test> tests;  // outermost first
  Expr value = *st.op.body;
  while (const auto* s = ir::as<ir::SelectNode>(value)) {
    const auto* lt = ir::as<ir::BinaryNode>(s->cond);
    const auto padding = std::find_if(st.paddings.begin(), st.paddings.end(), [&](const schedule::Padding& q) {
      return lt && lt->op == ir::BinaryOp::lt && lt->a.get() == q.axis.get() && ir::is_int(lt->b, q.extent);
    });
    if (padding == st.paddings.end()) break;
    tests.push_back({s->cond, s->if_false, padding->axis.get()});
    value = s->if_true;
  }
  arith::Analyzer facts = facts_of(st);
  for (size_t k = tests.size(); k-- > 0;) {
    const bool spatial = std::any_of(st.op.axes.begin(), st.op.axes.end(), [&](const te::Axis& a) { return a.var.get() == tests[k].axis; });
    const auto stays_inside = [&](const Expr& e) { return reads_stay_inside(e, tests[k].axis, stages, facts); };
    if (!spatial)
      value = ir::select(tests[k].cond, value, tests[k].neutral);
    else if (!stays_inside(value))
      value = tested(value, tests[k].cond, tests[k].neutral, stays_inside);
  }
  st.op.body = value;
}

/// Lets the loops of a stage run through the padding of its array's last blocks too, where that may be computed like the rest: whole vectors without a test.
void fill_last_blocks(const std::vector<Stage>& stages, Stage& st) {
  if (st.layout.empty() || !schedule::has_loops(st) || st.location != schedule::ComputeLocation::root || divides_integers(*st.op.body)) return;
  if (std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return schedule::is_binding(it.annotation); })) return;
  const std::vector<int64_t> room = padded_extents(st);
  for (size_t d = 0; d < room.size(); ++d) {
    te::Axis& axis = st.op.axes[d];
    if (room[d] <= axis.extent) continue;
    arith::Analyzer facts = facts_of(st);
    facts.bind(axis.var.get(), {0, room[d] - 1});
    if (reads_stay_inside(*st.op.body, axis.var.get(), stages, facts)) axis.extent = room[d];
  }
}

/// Layouts of arguments write divisions into the indices of reads: they may make an expression so much larger than fusion allows.
constexpr double kMostNodes = 4 * te::kMostWrittenNodes;

/// Refuses definitions that inlining would make so large that nobody could wait for their code.
Expected<void> check_sizes(const std::vector<Stage>& stages) {
  if (std::none_of(stages.begin(), stages.end(), [](const Stage& st) { return st.location == schedule::ComputeLocation::inlined; })) return {};
  std::map<const ir::BufferNode*, te::WrittenSize> inlined;
  for (const Stage& st : stages) {
    if (!st.op.body) continue;
    te::WrittenSize size = te::written_size(st.op, [&](const ir::BufferNode& b) {
      const auto it = inlined.find(&b);
      return it != inlined.end() ? it->second : te::WrittenSize::stored(b.shape.size());
    });
    if (size.nodes > kMostNodes)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected an expression of at most {:.0f} parts once what is inlined is written where it is read, "
                                                            "found {:.6g} in stage '{}'",
                                                            kMostNodes, size.nodes, printable(st.op.name)));
    if (st.location == schedule::ComputeLocation::inlined) inlined.emplace(st.op.output.get(), std::move(size));
  }
  return {};
}

}  // namespace

Expected<std::vector<Stage>> prepared_stages(const schedule::Schedule& s) {
  schedule::State state{s.stages(), s.outputs()};
  schedule::resolve_scopes(state.stages);
  TW_CHECK(schedule::check(state));
  TW_CHECK(check_sizes(state.stages));
  schedule::inline_stages(state.stages);
  for (Stage& st : state.stages) {
    drop_padding_tests(state.stages, st);
    fill_last_blocks(state.stages, st);
  }
  return std::move(state.stages);
}

}  // namespace tw::lower
