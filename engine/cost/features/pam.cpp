// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/pam.h"

#include <algorithm>
#include <array>

#include "engine/cost/features/store_costs.h"
#include "engine/ir/visit.h"

namespace tw::cost {
namespace {

using learner::kPatternColumns;
using learner::kPatternRows;
using learner::kStatementColumns;

constexpr size_t kFlags = 10;

void look(const ir::Expr& e, std::array<float, kFlags>& flags) {
  if (const auto* b = ir::as<ir::BinaryNode>(e)) {
    if (b->op == ir::BinaryOp::max) flags[0] = 1;
    if (b->op == ir::BinaryOp::min) flags[1] = 1;
    if (b->op == ir::BinaryOp::add && b->a->dtype.is_float()) flags[2] = 1;
  }
  ir::for_each_child(e, [&](const ir::Expr& c) { look(c, flags); });
}

std::array<float, kFlags> flags_of(const space::Program& program) {
  std::array<float, kFlags> out{};
  for (const schedule::Stage& st : program.scheduled()) {
    const te::Op& op = st.op;
    if (op.body) look(*op.body, out);
    if (op.reducer == te::Reducer::max) out[0] = 1;
    if (op.reducer == te::Reducer::min) out[1] = 1;
    const auto has = [&](std::string_view what) { return op.tag.find(what) != std::string::npos || op.name.find(what) != std::string::npos; };
    const bool depthwise = has("depthwise"), winograd = has("winograd");
    if (has("conv2d") && !depthwise && !winograd) out[3] = 1;
    if (winograd) out[4] = 1;
    if (depthwise) out[5] = 1;
    if (has("dense")) out[6] = 1;
    if (has("softmax")) out[7] = 1;
    if (has("batch_matmul")) out[8] = 1;
  }
  return out;
}

/// Where an array lies, as the pattern tells it.
size_t place(const ArrayStep& s) { return s.scope == ir::Scope::shared ? 1 : s.scope == ir::Scope::local ? 2 : 0; }

/// Where the steps of a tiled product begin; their number if there is none.
size_t find_pattern(const std::vector<ArrayStep>& steps) {
  struct Wanted {
    size_t place;
    bool written;
    size_t statement;
  };
  static constexpr std::array<Wanted, kPatternRows> kWanted = {
      {{2, true, 0}, {0, false, 1}, {1, true, 1}, {0, false, 2}, {1, true, 2}, {1, false, 3}, {1, false, 3}, {2, true, 3}}};
  for (size_t begin = 0; begin + kPatternRows <= steps.size(); ++begin) {
    const bool matches = std::equal(kWanted.begin(), kWanted.end(), steps.begin() + static_cast<std::ptrdiff_t>(begin), [&](const Wanted& w, const ArrayStep& s) {
      return place(s) == w.place && s.written == w.written && s.statement == steps[begin].statement + w.statement;
    });
    if (matches) return begin;
  }
  return steps.size();
}

}  // namespace

FeatureRows pam_program(const space::Program& program, const space::Evaluated& e, const Target&) {
  const StoreSteps found = store_steps(program, e);
  const std::array<float, kFlags> flags = flags_of(program);
  const size_t pattern = find_pattern(found.steps);
  const bool has_pattern = pattern < found.steps.size();
  FeatureRows out{{}, found.rows.count + (has_pattern ? kPatternRows : 0)};
  out.values.assign(out.count * kPamColumns, 0);
  auto row = out.values.begin();
  for (size_t r = 0; r < found.rows.count; ++r, row += kPamColumns) {
    const auto from = found.rows.values.begin() + static_cast<std::ptrdiff_t>(r * kAnsorColumns);
    std::copy(flags.begin(), flags.end(), std::copy(from, from + kAnsorColumns, row + 1));
  }
  for (size_t k = 0; has_pattern && k < kPatternRows; ++k, row += kPamColumns) {
    const ArrayStep& s = found.steps[pattern + k];
    row[0] = 1;
    auto to = row + 1 + kStatementColumns;
    *to++ = s.operations;
    to[static_cast<std::ptrdiff_t>(place(s))] = 1;
    to = std::copy(s.columns.begin(), s.columns.end(), to + 3);
    *to = s.bytes;
  }
  static_assert(kAnsorColumns + kFlags == kStatementColumns && 1 + 3 + kAnsorArrayColumns + 1 == kPatternColumns);
  return out;
}

Expected<FeatureRows> pam_features(const FeatureInput& input) { return by_program(input, pam_program); }

}  // namespace tw::cost
