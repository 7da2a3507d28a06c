// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

const AtenOp* find_aten_op(const std::string& name, bool* writes) {
  static const std::unordered_map<std::string, const AtenOp*> index = [] {
    std::unordered_map<std::string, const AtenOp*> m;
    for (const auto table : {aten_attention(), aten_binary(), aten_composite(), aten_create(), aten_index(), aten_linear(), aten_nn(), aten_norm(), aten_quant(),
                             aten_recurrent(), aten_reduce(), aten_resize(), aten_shape(), aten_symbolic(), aten_unary(), aten_view()})
      for (const AtenOp& op : table) m.emplace(op.name, &op);
    return m;
  }();
  if (writes) *writes = false;
  if (const auto it = index.find(name); it != index.end()) return it->second;
  // `aten.add_` is `aten.add` whose result goes to its first argument.
  if (name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_') return nullptr;
  const auto it = index.find(name.substr(0, name.size() - 1));
  if (it == index.end()) return nullptr;
  if (writes) *writes = true;
  return it->second;
}

}  // namespace tw::frontends
