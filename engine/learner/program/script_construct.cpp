// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script_construct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/learner/program/script_values.h"

namespace tw::learner {
namespace {

using c10::IValue;
namespace script_attr = c10::attr;

constexpr std::array kConstructors = {"prim::TupleConstruct", "prim::TupleUnpack", "prim::TupleSlice", "prim::ListConstruct", "prim::ListUnpack", "prim::DictConstruct",
                                      "prim::CreateObject", "prim::Uninitialized", "prim::unchecked_cast", "prim::isinstance"};

/// Lists of numbers and of tensors are kept as such, others as lists of anything.
IValue list_of(const c10::TypePtr& element, std::vector<IValue> values) {
  const auto filled = [&](auto list, const auto& as) {
    for (const IValue& v : values) list.push_back(as(v));
    return IValue(list);
  };
  if (element->isSubtypeOf(*c10::TensorType::get())) return filled(c10::List<at::Tensor>(), [](const IValue& v) { return v.toTensor(); });
  if (element->kind() == c10::TypeKind::IntType) return filled(c10::List<int64_t>(), [](const IValue& v) { return v.toInt(); });
  if (element->kind() == c10::TypeKind::FloatType) return filled(c10::List<double>(), [](const IValue& v) { return v.toDouble(); });
  if (element->kind() == c10::TypeKind::BoolType) return filled(c10::List<bool>(), [](const IValue& v) { return v.toBool(); });
  return filled(c10::impl::GenericList(element), [](const IValue& v) { return v; });
}

IValue dictionary_of(const c10::TypePtr& type, const std::vector<IValue>& values) {
  const auto& d = type->expectRef<c10::DictType>();
  c10::impl::GenericDict out(d.getKeyType(), d.getValueType());
  for (size_t k = 0; k + 1 < values.size(); k += 2) out.insert_or_assign(values[k], values[k + 1]);
  return out;
}

IValue object_of(const c10::TypePtr& type) {
  const auto of = type->expect<c10::ClassType>();
  return c10::ivalue::Object::create(c10::StrongTypePtr(of->compilation_unit(), of), of->numAttributes());
}

}  // namespace

bool is_constructor(const std::string& kind) { return std::find(kConstructors.begin(), kConstructors.end(), kind) != kConstructors.end(); }

std::vector<IValue> construct(torch::jit::Node* n, const std::string& kind, std::vector<IValue> values) {
  const auto checked = [&](std::vector<IValue> out) {
    if (out.size() != n->outputs().size()) refuse_script(ErrorCode::invalid_argument, fmt::format("Expected {} values for '{}', found {}", n->outputs().size(), kind, out.size()));
    return out;
  };
  if (kind == "prim::TupleConstruct") {
    const auto type = n->output()->type()->cast<c10::TupleType>();
    return {type && type->name() ? IValue(c10::ivalue::Tuple::createNamed(std::move(values), type)) : IValue(c10::ivalue::Tuple::create(std::move(values)))};
  }
  if (kind == "prim::ListConstruct") return {list_of(n->output()->type()->expectRef<c10::ListType>().getElementType(), std::move(values))};
  if (kind == "prim::DictConstruct") return {dictionary_of(n->output()->type(), values)};
  if (kind == "prim::CreateObject") return {object_of(n->output()->type())};
  if (kind == "prim::Uninitialized") return {IValue()};
  if (kind == "prim::unchecked_cast") return values;
  if (kind == "prim::isinstance") {
    const c10::TypePtr type = values.at(0).type();
    const auto& wanted = n->tys(script_attr::types);
    return {IValue(std::any_of(wanted.begin(), wanted.end(), [&](const c10::TypePtr& w) { return type->isSubtypeOf(*w); }))};
  }
  if (kind == "prim::ListUnpack") {
    const auto list = values.at(0).toListRef();
    return checked(std::vector<IValue>(list.begin(), list.end()));
  }
  const auto& elements = values.at(0).toTupleRef().elements();
  std::vector<IValue> all(elements.begin(), elements.end());
  if (kind == "prim::TupleUnpack") return checked(std::move(all));
  const auto bounded = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + static_cast<int64_t>(all.size()) : i, 0, static_cast<int64_t>(all.size())); };
  const int64_t from = bounded(n->i(script_attr::beg)), to = std::max(from, bounded(n->i(script_attr::end)));
  return {c10::ivalue::Tuple::create(std::vector<IValue>(all.begin() + from, all.begin() + to))};
}

}  // namespace tw::learner
