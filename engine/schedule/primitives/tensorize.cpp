// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/ir/visit.h"
#include "engine/schedule/primitives/row.h"
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

namespace {

/// Whether a stage with a `warp_product` can have one as things stand.
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

}  // namespace

const PrimitiveOf<TensorizeStep>& TensorizeStep::primitive() {
  static const PrimitiveOf<TensorizeStep> row{
      .about = {.code = "TS",
                .words = {{"tensorize",
                           "Computes products of 16-bit floats, of bytes, or of float32 that may be rounded, by tensor cores: the threads of a warp hold a "
                           "tile of the sums together and "
                           "add a product to it at a time.",
                           "mma.sync, NVIDIA PTX ISA; Chen et al., TVM, OSDI 2018"}},
                .random = [](const Draw& d) -> Step {
                  return TensorizeStep{d.stage, d.loop()};
                },
                .check = [](const State& s) -> Expected<void> {
                  for (const Stage& st : s.stages)
                    if (st.warp_product) TW_CHECK(check_tensorize(st));
                  return {};
                }},
      .json = in_order<&TensorizeStep::stage, &TensorizeStep::iter>(),
      .apply = apply_tensorize,
      .describe = [](const TensorizeStep& s, const Names& n) { return fmt::format("tensorize({}, {})", n.stage(s.stage), n.loop(s.stage, s.iter)); }};
  return row;
}

}  // namespace tw::schedule
