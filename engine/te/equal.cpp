// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/equal.h"
#include "engine/te/dag.h"

namespace tw::te {

namespace {

bool equal_axes(const std::vector<Axis>& a, const std::vector<Axis>& b, ir::Correspondence& map) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].extent != b[i].extent || a[i].kind != b[i].kind || a[i].var->dtype != b[i].var->dtype) return false;
    map.left_to_right[a[i].var.get()] = b[i].var.get();
  }
  return true;
}

bool equal_ops(const Op& a, const Op& b, ir::Correspondence& map) {
  if (a.name != b.name || a.role != b.role || a.reducer != b.reducer || a.tag != b.tag || a.attrs != b.attrs) return false;
  if (a.output->dtype != b.output->dtype || a.output->shape != b.output->shape || a.body.has_value() != b.body.has_value()) return false;
  map.left_to_right[a.output.get()] = b.output.get();
  return equal_axes(a.axes, b.axes, map) && equal_axes(a.reduce_axes, b.reduce_axes, map) && (!a.body || ir::structural_equal(*a.body, *b.body, map));
}

}  // namespace

bool structural_equal(const Dag& a, const Dag& b) {
  if (a.ops.size() != b.ops.size() || a.outputs != b.outputs || a.source != b.source) return false;
  ir::Correspondence map;
  for (size_t i = 0; i < a.ops.size(); ++i)
    if (!equal_ops(a.ops[i], b.ops[i], map)) return false;
  return true;
}

}  // namespace tw::te
