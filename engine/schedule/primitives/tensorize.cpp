// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/primitives.h"
#include "engine/target/gpu.h"

namespace tw::schedule {

std::pair<const ir::LoadNode*, const ir::LoadNode*> product_of_loads(const ir::Expr& body) {
  const auto plain = [](const ir::Expr& e) {
    const auto* c = ir::as<ir::CastNode>(e);
    return ir::as<ir::LoadNode>(c ? c->value : e);
  };
  const auto* product = ir::as<ir::BinaryNode>(body);
  if (!product || product->op != ir::BinaryOp::mul) return {};
  const ir::LoadNode *a = plain(product->a), *b = plain(product->b);
  return a && b ? std::pair(a, b) : std::pair<const ir::LoadNode*, const ir::LoadNode*>();
}

Expected<void> check_tensorize(const Stage& st) {
  const auto refuse = [&](const std::string& expected) {
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} for 'tensorize', found stage '{}'", expected, st.op.name));
  };
  const int at = position_of(st, st.warp_product->get());
  if (at < 0) return refuse("the loop that it began at");
  const auto [a, b] = product_of_loads(*st.op.body);
  const DType out = st.op.output->dtype;
  const bool summed = a && target::mma_depth(a->dtype, b->dtype) > 0 && (out == target::mma_sum(a->dtype) || (out == a->dtype && out.is_float()));
  if (st.op.reducer != te::Reducer::sum || !summed)
    return refuse("a sum of products of two arrays of float16, of bfloat16 or of float32, or of int8 or uint8 in int32");
  const auto is_loop = [&](size_t k, te::AxisKind kind) { return st.iters[k].kind == kind && !is_binding(st.iters[k].annotation); };
  const auto k = static_cast<size_t>(at);
  if (st.iters.size() != k + 3 || !is_loop(k, te::AxisKind::spatial) || !is_loop(k + 1, te::AxisKind::spatial) || !is_loop(k + 2, te::AxisKind::reduce))
    return refuse("a loop over rows with a loop over columns and one over terms inside, innermost,");
  if (st.location != ComputeLocation::at || st.scope != ir::Scope::local || !st.alignments.empty() || !st.layout.empty() || !st.paddings.empty())
    return refuse("a cache in registers that is computed inside a loop, with neither layout, gaps nor padding,");
  return {};
}

Expected<void> apply_tensorize(State& s, const TensorizeStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "tensorize"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for 'tensorize', found {}", st->iters.size(), st->op.name, p.iter));
  const auto before = std::exchange(st->warp_product, st->iters[static_cast<size_t>(p.iter)].var);
  const auto legal = check_tensorize(*st);
  if (!legal) st->warp_product = before;
  return legal;
}

}  // namespace tw::schedule
