// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/prepare.h"

#include <algorithm>
#include <map>

#include "engine/arith/analyzer.h"
#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/schedule/loops.h"
#include "engine/schedule/primitive.h"
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

/// Whether every read of `e` whose place depends on `axis` stays inside the stage or argument that it reads.
bool reads_stay_inside(const Expr& e, const ir::VarNode* axis, arith::Analyzer& facts) {
  if (const auto* l = ir::as<ir::LoadNode>(e))
    for (size_t d = 0; d < l->indices.size(); ++d)
      if (ir::uses_var(l->indices[d], axis) && !(facts.prove(ir::index(0) <= l->indices[d]) && facts.prove(l->indices[d] < ir::index(l->buffer->shape[d]))))
        return false;
  bool ok = true;
  if (const auto* s = ir::as<ir::SelectNode>(e); s && s->cond->dtype.is_scalar()) {
    ok = reads_stay_inside(s->cond, axis, facts);
    const size_t mark = facts.push_fact(s->cond);
    ok = ok && reads_stay_inside(s->if_true, axis, facts);
    facts.pop_facts(mark);
    return ok && reads_stay_inside(s->if_false, axis, facts);
  }
  ir::for_each_child(e, [&](const Expr& c) { ok = ok && reads_stay_inside(c, axis, facts); });
  return ok;
}

/// Leaves out the tests of padded spatial axes where the surplus may be computed like the rest.
void drop_padding_tests(Stage& st) {
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
  arith::Analyzer facts;
  for (const std::vector<te::Axis>* axes : {&st.op.axes, &st.op.reduce_axes})
    for (const te::Axis& a : *axes) facts.bind(a.var.get(), {0, a.extent - 1});
  for (size_t k = tests.size(); k-- > 0;) {
    const bool spatial = std::any_of(st.op.axes.begin(), st.op.axes.end(), [&](const te::Axis& a) { return a.var.get() == tests[k].axis; });
    if (!spatial || !reads_stay_inside(value, tests[k].axis, facts)) value = ir::select(tests[k].cond, value, tests[k].neutral);
  }
  st.op.body = value;
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
  for (Stage& st : state.stages) drop_padding_tests(st);
  return std::move(state.stages);
}

}  // namespace tw::lower
