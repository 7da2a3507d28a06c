// SPDX-License-Identifier: Apache-2.0
#include "engine/te/unread.h"

#include <algorithm>

#include "engine/ir/visit.h"

namespace tw::te {

namespace {

bool reads_arrays(const ir::Expr& e) {
  bool found = false;
  ir::walk(e, [&](const ir::Expr& x) { found = found || ir::as<ir::LoadNode>(x) != nullptr; });
  return found;
}

}  // namespace

int64_t unread_bytes(const Dag& dag) {
  int64_t total = 0;
  for (const Op& operand : dag.ops) {
    if (!operand.is_placeholder()) continue;
    bool fetched = true;  // everywhere
    int64_t fetches = 0;
    for (const Op& op : dag.ops) {
      if (op.is_placeholder()) continue;
      int64_t points = op.output->num_elements();
      for (const Axis& a : op.reduce_axes) points *= a.extent;
      ir::walk(*op.body, [&](const ir::Expr& e) {
        const auto* l = ir::as<ir::LoadNode>(e);
        if (!l || l->buffer.get() != operand.output.get()) return;
        fetched = fetched && std::any_of(l->indices.begin(), l->indices.end(), reads_arrays);
        fetches += points;
      });
    }
    if (fetched) total += std::max<int64_t>(0, operand.output->num_elements() - fetches) * operand.output->dtype.bytes();
  }
  return total;
}

}  // namespace tw::te
