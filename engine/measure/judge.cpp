// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/judge.h"

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/te/window.h"

namespace tw::measure {

namespace {

std::string index_text(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = flat % shape[static_cast<size_t>(d)];
    flat /= shape[static_cast<size_t>(d)];
  }
  return shape_text(index);
}

bool has_conditions(const te::Dag& dag) {
  bool found = false;
  for (const te::Op& op : dag.ops) {
    if (!op.body) continue;
    ir::walk(*op.body, [&](const ir::Expr& e) { found |= e->kind() == ir::ExprKind::select; });
  }
  return found;
}

bool has_narrow_types(const te::Dag& dag) {
  return std::any_of(dag.ops.begin(), dag.ops.end(), [](const te::Op& op) { return op.output->dtype.bits < 32; });
}

}  // namespace

std::optional<std::string> judge_values(const MeasureJob& job, const MeasureReply& reply, const Reference& reference, double& max_rel_error) {
  const std::vector<int> outputs = job.outputs();
  TW_ASSERT(outputs.size() == reference.outputs.size(), "a reference for every output");
  std::optional<std::string> complaint;
  max_rel_error = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const ReferenceOutput& want = reference.outputs[o];
    const std::string& name = job.signature.args[static_cast<size_t>(outputs[o])].name;
    const Comparison c = compare(want, reply.values[o]);
    max_rel_error = std::max(max_rel_error, c.max_rel_error);
    if (complaint) continue;
    if (!c.equal) {
      complaint = fmt::format("Element {} of output \"{}\" is {:.9g}, expected {:.9g} (relative error {:.3g}, allowed {:.3g})", index_text(c.at, want.shape),
                              name, c.got, c.want, c.max_rel_error, want.tolerance);
    } else if (reply.first_nan[o] >= 0 && !want.has_nan) {
      complaint = fmt::format("Element {} of output \"{}\" is not a number, expected numbers only", index_text(reply.first_nan[o], want.shape), name);
    }
  }
  return complaint;
}

namespace {

/// Share of the operations that do not multiply with padding.
double share_in_images(const te::Dag& dag) {
  double share = 1;
  for (const te::Op& op : dag.ops) {
    double of_op = 1;
    for (const te::WindowLine& line : te::windows_of(dag, op)) of_op *= line.met(1);
    share = std::min(share, of_op);
  }
  return share;
}

}  // namespace

double physical_floor_s(const te::Dag& dag, double peak_flops, double narrow) {
  constexpr double kMargin = 0.9, kConditions = 0.5, kWinograd = 5.0625;  // (3 * 6 / 8)^2: tiles of 6x6
  if (peak_flops <= 0) return 0;
  double flops = static_cast<double>(te::flops(dag)) * (has_conditions(dag) ? kConditions : 1) * share_in_images(dag);
  if (std::any_of(dag.ops.begin(), dag.ops.end(), may_be_winograd)) flops /= kWinograd;
  return kMargin * flops / (peak_flops * (has_narrow_types(dag) ? narrow : 1));
}

std::optional<std::string> judge_times(const MeasureReply& reply, double wall_s) {
  constexpr double kAgreement = 1.2;
  if (reply.samples_s.empty() || reply.samples_s.size() != reply.flags.size() || reply.inner < 1) return "There are no samples";
  double sum = 0;
  for (const double s : reply.samples_s) {
    if (!records::possible_time(s)) return fmt::format("A sample of {:g} s is not a time", s);
    sum += s * reply.inner;
  }
  if (sum > kAgreement * wall_s) return fmt::format("The samples add up to {:g} s, but only {:g} s passed", sum, wall_s);
  return std::nullopt;
}

}  // namespace tw::measure
