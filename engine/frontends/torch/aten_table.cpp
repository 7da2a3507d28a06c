// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

const AtenOp* find_aten_op(const std::string& name, AtenForm* form) {
  static const std::unordered_map<std::string, const AtenOp*> index = [] {
    std::unordered_map<std::string, const AtenOp*> m;
    for (const auto table : {aten_attention(), aten_binary(), aten_composite(), aten_create(), aten_index(), aten_linear(), aten_nn(), aten_norm(),
                             aten_quant(), aten_recurrent(), aten_reduce(), aten_resize(), aten_shape(), aten_symbolic(), aten_unary(), aten_view()})
      for (const AtenOp& op : table) m.emplace(op.name, &op);
    return m;
  }();
  const auto found = [&](const std::string& plain, AtenForm f) {
    const auto it = index.find(plain);
    if (it != index.end() && form) *form = f;
    return it == index.end() ? nullptr : it->second;
  };
  const auto without = [&](std::string_view end) { return name.substr(0, name.size() - end.size()); };
  if (const AtenOp* op = found(name, AtenForm::plain)) return op;
  if (name.ends_with("_copy")) return found(without("_copy"), AtenForm::copies);
  return name.ends_with("_") && !name.ends_with("__") ? found(without("_"), AtenForm::writes) : nullptr;
}

}  // namespace tw::frontends
