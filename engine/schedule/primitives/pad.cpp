// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_pad(State& s, const PadStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "pad"));
  TW_TRY(te::Axis * axis, whole_axis(*st, p.iter, "pad"));
  if (p.factor < 1 || p.factor > (int64_t{1} << 20))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a factor of 1 to 2^20 for 'pad', found {}", p.factor));
  if (is_output(s, p.stage))
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a stage that is no output for 'pad', found '{}' with axis '{}'", st->op.name, axis->var->name));
  const int64_t real = axis->extent, padded = ((real - 1) / p.factor + 1) * p.factor;
  if (padded == real) return {};
  axis->extent = padded;
  st->iters[static_cast<size_t>(p.iter)].extent = padded;
  const bool again = std::any_of(st->paddings.begin(), st->paddings.end(), [&](const Padding& q) { return q.axis.same_as(axis->var); });
  if (!again) {
    const ir::Expr neutral = te::reducer_identity(st->op.reducer, st->op.output->dtype);
    st->op.body = ir::select(ir::to_expr(axis->var) < ir::index(real), *st->op.body, neutral);
    st->paddings.push_back({axis->var, real});
  }
  if (axis->kind == te::AxisKind::reduce) return {};

  const ir::Buffer old = st->op.output;
  std::vector<int64_t> shape = old->shape;
  shape[static_cast<size_t>(axis - st->op.axes.data())] = padded;
  st->op.output = ir::make_buffer(old->name, old->dtype, std::move(shape));
  const ir::Buffer grown = st->op.output;
  for (const int r : readers_of(s.stages, *old)) {
    te::Op& op = s.stages[static_cast<size_t>(r)].op;
    op.body = replace_reads(*op.body, old.get(), [&](const std::vector<ir::Expr>& i) { return ir::load(grown, i); });
  }
  return {};
}

}  // namespace

const PrimitiveOf<PadStep>& PadStep::primitive() {
  static const PrimitiveOf<PadStep> row{
      .about = {.code = "PD",
                .words = {{"pad", "Rounds an axis up to a multiple, with surplus elements that nobody reads, so that splitting it needs no guards.",
                           "packed panels in Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"}},
                .random = [](const Draw& d) -> Step {
                  return PadStep{d.stage, d.loop(), d.rng.range(1, 6)};
                }},
      .json = in_order<&PadStep::stage, &PadStep::iter, &PadStep::factor>(),
      .apply = apply_pad,
      .describe = [](const PadStep& s, const Names& n) { return fmt::format("pad({}, {}, {})", n.stage(s.stage), n.loop(s.stage, s.iter), s.factor); }};
  return row;
}

}  // namespace tw::schedule
