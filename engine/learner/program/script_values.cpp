// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script_values.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "engine/learner/script.h"

namespace tw::learner {
namespace {

Json sizes_json(at::IntArrayRef sizes) {
  Json out = Json::array();
  for (const int64_t d : sizes) out.push_back({{"as_int", d}});
  return out;
}

/// JSON has neither infinities nor what is no number.
Json real_json(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  return v;
}

Json tensor_or_none(const c10::IValue& v, const NameOf& name_of) {
  return v.isTensor() && v.toTensor().defined() ? named_tensor(name_of(v.toTensor())) : Json{{"as_none", true}};
}

/// What all elements of a list are.
template <class Is>
bool all_of(const c10::impl::GenericList& list, Is is) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!is(list.get(i))) return false;
  return true;
}

Json list_json(const c10::impl::GenericList& list, const NameOf& name_of) {
  Json out = Json::array();
  const auto elements = [&](const auto& json_of) {
    for (size_t i = 0; i < list.size(); ++i) out.push_back(json_of(list.get(i)));
    return out;
  };
  if (list.elementType()->isSubtypeOf(*c10::TensorType::get()))
    return {{"as_tensors", elements([&](const c10::IValue& v) { return Json{{"name", name_of(v.toTensor())}}; })}};
  if (all_of(list, [](const c10::IValue& v) { return v.isInt(); })) return {{"as_ints", elements([](const c10::IValue& v) { return Json(v.toInt()); })}};
  if (all_of(list, [](const c10::IValue& v) { return v.isBool(); })) return {{"as_bools", elements([](const c10::IValue& v) { return Json(v.toBool()); })}};
  if (all_of(list, [](const c10::IValue& v) { return v.isDouble() || v.isInt(); }))
    return {{"as_floats", elements([](const c10::IValue& v) { return real_json(v.toScalar().toDouble()); })}};
  if (all_of(list, [](const c10::IValue& v) { return v.isTensor() || v.isNone(); }))
    return {{"as_optional_tensors", elements([&](const c10::IValue& v) { return tensor_or_none(v, name_of); })}};
  return {{"as_none", true}};
}

}  // namespace

void refuse_script(ErrorCode code, const std::string& message, const std::string& where) { throw ScriptRefusal{Error(code, message, where)}; }

void for_each_tensor(const c10::IValue& v, const std::function<void(const at::Tensor&)>& visit) {
  if (v.isTensor()) {
    if (v.toTensor().defined()) visit(v.toTensor());
  } else if (v.isTuple()) {
    for (const c10::IValue& e : v.toTupleRef().elements()) for_each_tensor(e, visit);
  } else if (v.isList()) {
    const c10::impl::GenericList list = v.toList();
    for (size_t i = 0; i < list.size(); ++i) for_each_tensor(list.get(i), visit);
  } else if (v.isGenericDict()) {
    for (const auto& entry : v.toGenericDict()) for_each_tensor(entry.value(), visit);
  }
}

Json named_tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

Json argument_json(const c10::IValue& v, const c10::Argument& argument, const NameOf& name_of) {
  if (v.isTensor()) return tensor_or_none(v, name_of);
  if (v.isBool()) return {{"as_bool", v.toBool()}};
  if (v.isInt()) {
    const c10::TypePtr& declared = argument.real_type();
    const auto optional = declared->cast<c10::OptionalType>();
    const bool is_type = (optional ? optional->getElementType() : declared)->kind() == c10::TypeKind::ScalarTypeType || argument.name() == "dtype";
    return is_type ? Json{{"as_scalar_type", exported_type(v.toInt())}} : Json{{"as_int", v.toInt()}};
  }
  if (v.isDouble()) return {{"as_float", real_json(v.toDouble())}};
  if (v.isString()) return {{"as_string", v.toStringRef()}};
  if (v.isComplexDouble()) refuse_script(ErrorCode::unsupported, fmt::format("The argument '{}' is a complex number, which is not supported", argument.name()));
  if (v.isList()) return list_json(v.toList(), name_of);
  return {{"as_none", true}};
}

Json tensor_json(const at::Tensor& t) {
  constexpr int64_t kDense = 7;
  return {{"dtype", exported_type(static_cast<int64_t>(t.scalar_type()))},
          {"sizes", sizes_json(t.sizes())},
          {"strides", sizes_json(t.strides())},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", kDense}};
}

}  // namespace tw::learner
