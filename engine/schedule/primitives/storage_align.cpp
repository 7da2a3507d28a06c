// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_storage_align(State& s, const StorageAlignStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "storage_align"));
  TW_TRY(const te::Axis* axis, whole_axis(*st, p.iter, "storage_align"));
  if (axis->kind == te::AxisKind::reduce)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected an axis of the array for 'storage_align', found the reduction axis '{}' of stage '{}'", axis->var->name, st->op.name));
  if (p.factor < 1 || p.factor > (int64_t{1} << 20) || p.offset < 0 || p.offset >= p.factor)
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a factor of 1 to 2^20 and an offset below it for 'storage_align', found {} and {}", p.factor, p.offset));
  if (is_output(s, p.stage))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that is no output for 'storage_align', found '{}'", st->op.name));
  const int dim = static_cast<int>(axis - st->op.axes.data());
  std::erase_if(st->alignments, [&](const Alignment& a) { return a.dim == dim; });
  st->alignments.push_back({dim, p.factor, p.offset});
  return {};
}

}  // namespace

const PrimitiveOf<StorageAlignStep>& StorageAlignStep::primitive() {
  static const PrimitiveOf<StorageAlignStep> row{
      .about = {.code = "SA",
                .words = {{"storage_align", "Leaves gaps in an array so that its rows do not fall into the same cache sets or memory banks.", kTvm}},
                .random = [](const Draw& d) -> Step {
                  const int64_t factor = d.rng.range(1, 9);
                  return StorageAlignStep{d.stage, d.loop(), factor, d.rng.range(0, factor - 1)};
                }},
      .json = in_order<&StorageAlignStep::stage, &StorageAlignStep::iter, &StorageAlignStep::factor, &StorageAlignStep::offset>(),
      .apply = apply_storage_align,
      .describe = [](const StorageAlignStep& s, const Names& n) {
        return fmt::format("storage_align({}, {}, factor={}, offset={})", n.stage(s.stage), n.loop(s.stage, s.iter), s.factor, s.offset);
      }};
  return row;
}

}  // namespace tw::schedule
