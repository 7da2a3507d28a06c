// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/torch/limits.h"
#include "engine/frontends/torch/torch_importer.h"

namespace tw::frontends {

namespace {

std::string overload_of(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!target.starts_with(kOps)) return {};
  const size_t space = target.find('.', kOps.size());
  const size_t at = space == std::string::npos ? space : target.find('.', space + 1);
  return at == std::string::npos ? std::string() : target.substr(at + 1);
}

std::string short_name(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  return printable((target.starts_with(kOps) ? target.substr(kOps.size()) : target).substr(0, 128));
}

// ---- Which type a computation has. Source: torch.result_type and torch.promote_types in PyTorch's documentation.

int category(DType t) { return t.is_bool() ? 0 : t.is_int() ? 1 : 2; }

DType promoted_pair(DType a, DType b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (a.bits == 16 && b.bits == 16) return kFloat32;
    return a.bits > b.bits ? a : b;
  }
  if (a.is_signed() == b.is_signed()) return a.bits > b.bits ? a : b;
  const DType wide = a.is_signed() ? a : b, other = a.is_signed() ? b : a;
  if (wide.bits > other.bits) return wide;
  const int bits = std::min(64, other.bits * 2);
  return {TypeCode::int_, static_cast<uint8_t>(bits), 1};
}

}  // namespace

bool viewable(const Dims& sizes, const Dims& strides, const Dims& wanted) {
  if (sizes.empty()) return true;
  // From the last dimension on: a run of dimensions that continue each other in memory must be filled by whole wanted dimensions.
  size_t w = wanted.size();
  int64_t step = strides.back(), run = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    if (d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == run * step)) continue;
    int64_t filled = 1;
    while (w > 0 && (filled < run || wanted[w - 1] == 1)) filled *= wanted[--w];
    if (filled != run) return false;
    if (d > 0) step = strides[d - 1];
    run = 1;
  }
  return w == 0;
}

TorchNode::TorchNode(TorchImporter& importer, const Json& node, const std::string& target, const std::string& name)
    : Emitter(importer.builder(), name, name + ".constant", short_name(target)),
      importer_(importer),
      node_(node),
      target_(target),
      overload_(overload_of(target)),
      name_(name),
      inputs_(&field(node, "inputs", "a node")) {
  if (!inputs_->is_array()) refuse(ErrorCode::parse_error, "Expected a list of arguments, found something else", where());
}

std::string TorchNode::where() const { return fmt::format("node '{}' ({})", printable(name_.substr(0, 256)), short_name(target_)); }

const Json* TorchNode::argument_named(const char* name) const {
  for (const Json& input : *inputs_) {
    const Json* own = optional_field(input, "name");
    if (own && own->is_string() && own->get_ref<const std::string&>() == name) return &field(input, "arg", "an argument");
  }
  return nullptr;
}
const Json* TorchNode::raw(const char* name) const { return argument_named(name); }
const Json* TorchNode::raw(size_t i) const { return i < inputs_->size() ? &field((*inputs_)[i], "arg", "an argument") : nullptr; }

bool TorchNode::has(const char* name) const {
  const Json* arg = argument_named(name);
  if (!arg) return false;
  const auto [kind, value] = union_of(*arg, "an argument");
  if (kind == "as_none") return false;
  if (kind == "as_optional_tensor") return union_of(*value, "an argument").first == "as_tensor";
  return true;
}

bool TorchNode::is_tensor(const char* name) const {
  const Json* arg = argument_named(name);
  if (!arg) return false;
  const auto [kind, value] = union_of(*arg, "an argument");
  if (kind == "as_optional_tensor") return union_of(*value, "an argument").first == "as_tensor";
  return kind == "as_tensor";
}

int TorchNode::reference(const char* name) const {
  const Json* arg = argument_named(name);
  if (!arg) invalid(fmt::format("argument '{}' is required but absent", name));
  auto [kind, value] = union_of(*arg, "an argument");
  if (kind == "as_optional_tensor") std::tie(kind, value) = union_of(*value, "an argument");
  if (kind != "as_tensor") invalid(fmt::format("expected a tensor as '{}', found another kind of argument", name));
  const std::string tensor = text_of(field(*value, "name", "an argument"), "an argument");
  const TorchValue* found = importer_.find(tensor);
  if (!found || found->tensor < 0) invalid(fmt::format("tensor '{}' is not defined before it", printable(tensor.substr(0, 256))));
  return found->tensor;
}
int TorchNode::tensor(const char* name) { return importer_.read(reference(name)); }

std::vector<int> TorchNode::references(const char* name) const {
  const Json* arg = argument_named(name);
  if (!arg) invalid(fmt::format("argument '{}' is required but absent", name));
  const auto [kind, value] = union_of(*arg, "an argument");
  std::vector<int> out;
  if (!value->is_array() && kind != "as_tensor") invalid(fmt::format("expected a list of tensors as '{}', found another kind of argument", name));
  const auto add = [&](const Json& tensor) {
    const std::string text = text_of(field(tensor, "name", "an argument"), "an argument");
    const TorchValue* found = importer_.find(text);
    if (!found || found->tensor < 0) invalid(fmt::format("tensor '{}' is not defined before it", printable(text.substr(0, 256))));
    out.push_back(found->tensor);
  };
  if (kind == "as_tensor") {
    add(*value);
    return out;
  }
  for (const Json& t : *value) {
    if (kind == "as_tensors") {
      add(t);
      continue;
    }
    const auto [type, inner] = union_of(t, "an argument");
    if (type == "as_tensor") add(*inner);
    else out.push_back(-1);
  }
  return out;
}
std::vector<int> TorchNode::tensors(const char* name) {
  std::vector<int> out;
  for (const int r : references(name)) out.push_back(r < 0 ? -1 : importer_.read(r));
  return out;
}

Number TorchNode::number_of(const Json& argument) const {
  const auto [kind, value] = union_of(argument, "an argument");
  if (kind == "as_int" && value->is_number_integer()) return value->get<int64_t>();
  if (kind == "as_float") {
    if (value->is_number()) return value->get<double>();
    if (value->is_string()) {  // JSON has no infinities
      const std::string& text = value->get_ref<const std::string&>();
      if (text == "Infinity" || text == "-Infinity") return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
      if (text == "NaN") return std::nan("");
    }
  }
  if (kind == "as_bool" && value->is_boolean()) return value->get<bool>();
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
    const auto [type, inner] = union_of(*value, "an argument");
    if (type == "as_name") {
      const std::string name = text_of(*inner, "an argument");
      const TorchValue* found = importer_.find(name);
      if (found && found->number) return *found->number;
      unsupported(fmt::format("the size '{}' is computed at run time", printable(name.substr(0, 256))));
    }
    if (inner->is_number_integer()) return inner->get<int64_t>();
    if (inner->is_number()) return inner->get<double>();
    if (inner->is_boolean()) return inner->get<bool>();
  }
  if (kind == "as_tensor") {  // a tensor that is known
    const std::string name = text_of(field(*value, "name", "an argument"), "an argument");
    const TorchValue* found = importer_.find(name);
    if (found && found->tensor >= 0) {
      const HostArray* c = constant_of(importer_.read(found->tensor));
      if (c && c->num_elements() == 1) return c->dtype.is_float() ? Number(c->get(0)) : c->dtype.is_bool() ? Number(c->get_int(0) != 0) : Number(c->get_int(0));
      unsupported(fmt::format("the number '{}' is computed at run time", printable(name.substr(0, 256))));
    }
  }
  invalid("expected a number, found another kind of argument");
}
Number TorchNode::number(const char* name) const {
  const Json* arg = argument_named(name);
  if (!arg) invalid(fmt::format("argument '{}' is required but absent", name));
  return number_of(*arg);
}
Number TorchNode::argument(size_t i) const {
  const Json* arg = raw(i);
  if (!arg) invalid(fmt::format("argument {} is required but absent", i));
  return number_of(*arg);
}
TorchValue TorchNode::operand(size_t i) const {
  const Json* arg = raw(i);
  if (!arg) invalid(fmt::format("argument {} is required but absent", i));
  const auto [kind, value] = union_of(*arg, "an argument");
  if (kind == "as_none") return {};
  if (kind != "as_tensor") return {.number = number_of(*arg)};
  const TorchValue* found = importer_.find(text_of(field(*value, "name", "an argument"), "an argument"));
  if (!found) invalid(fmt::format("argument {} is not defined before it", i));
  return *found;
}

std::string TorchNode::text(const char* name, const std::string& fallback) const {
  const Json* arg = argument_named(name);
  if (!arg || !has(name)) return fallback;
  const auto [kind, value] = union_of(*arg, "an argument");
  if (kind != "as_string") invalid(fmt::format("expected a text as '{}', found another kind of argument", name));
  return text_of(*value, "an argument");
}

Dims TorchNode::integers(const char* name, Dims fallback) const {
  if (!has(name)) return fallback;
  const Json* arg = argument_named(name);
  const auto [kind, value] = union_of(*arg, "an argument");
  if (!value->is_array()) return {as_integer(number_of(*arg))};
  Dims out;
  for (const Json& v : *value) {
    if (v.is_number_integer()) {
      out.push_back(v.get<int64_t>());
    } else if (v.is_object()) {
      const auto [type, inner] = union_of(v, "an argument");
      if (type == "as_int") {
        out.push_back(integer_of(*inner, "an argument"));
        continue;
      }
      const std::string symbol = text_of(type == "as_tensor" ? field(*inner, "name", "an argument") : *inner, "an argument");
      const TorchValue* found = importer_.find(symbol);
      if (!found || !found->number) unsupported(fmt::format("the size '{}' is computed at run time", printable(symbol.substr(0, 256))));
      out.push_back(as_integer(*found->number));
    } else {
      invalid(fmt::format("expected integers as '{}', found something else", name));
    }
  }
  return out;
}
std::vector<double> TorchNode::reals(const char* name) const {
  const Json* arg = argument_named(name);
  std::vector<double> out;
  if (!arg || !has(name)) return out;
  const auto [kind, value] = union_of(*arg, "an argument");
  if (!value->is_array()) return {as_real(number_of(*arg))};
  for (const Json& v : *value) {
    if (v.is_number()) {
      out.push_back(v.get<double>());
      continue;
    }
    const auto [type, inner] = union_of(v, "an argument");
    if (inner->is_number()) {
      out.push_back(inner->get<double>());
      continue;
    }
    const TorchValue* found = importer_.find(text_of(*inner, "an argument"));
    if (!found || !found->number) unsupported(fmt::format("a number in '{}' is computed at run time", name));
    out.push_back(as_real(*found->number));
  }
  return out;
}

DType TorchNode::type_named(const char* name, DType fallback) const {
  if (!has(name)) return fallback;
  const auto [kind, value] = union_of(*argument_named(name), "an argument");
  if (kind != "as_scalar_type" && kind != "as_int") invalid(fmt::format("expected an element type as '{}', found another kind of argument", name));
  return dtype_of_torch(integer_of(*value, "an element type"), where());
}

const Json& TorchNode::graph(const char* name) const {
  const Json* arg = argument_named(name);
  const Json* g = arg ? optional_field(*arg, "as_graph") : nullptr;
  if (!g) invalid(fmt::format("expected a graph as '{}', found none", name));
  return field(*g, "graph", "a graph");
}

std::optional<Dims> TorchNode::strides(const char* name) const {
  const Json* arg = argument_named(name);
  const Json* tensor = arg ? optional_field(*arg, "as_tensor") : nullptr;
  const Json* meta = tensor ? importer_.meta_of(text_of(field(*tensor, "name", "an argument"), "an argument")) : nullptr;
  if (!meta) return std::nullopt;
  Dims out;
  for (const SymbolicSize& s : tensor_meta(*meta, where()).strides) {
    if (!s.expression.empty()) return std::nullopt;
    out.push_back(s.number);
  }
  return out;
}

bool TorchNode::has_result(size_t i) const {
  const Json& outputs = field(node_, "outputs", "a node");
  if (i >= outputs.size()) return false;
  const Json* tensor = optional_field(outputs[i], "as_tensor");
  return tensor && !text_of(field(*tensor, "name", "a result"), "a result").empty();
}
DType TorchNode::result_type(size_t i) const {
  const Json& outputs = field(node_, "outputs", "a node");
  if (i < outputs.size()) {
    const Json* tensor = optional_field(outputs[i], "as_tensor");
    const Json* meta = tensor ? importer_.meta_of(text_of(field(*tensor, "name", "a result"), "a result")) : nullptr;
    if (meta) return dtype_of_torch(integer_of(field(*meta, "dtype", "a tensor's description"), "an element type"), where());
  }
  invalid(fmt::format("the program does not describe result {}", i));
}

int TorchNode::operand_in(const char* name, DType t) {
  if (is_tensor(name)) return cast(tensor(name), t);
  const Number n = number(name);
  if (t.is_float()) return scalar(t, as_real(n));
  HostArray a = HostArray::make(t, {});
  a.set_int(0, as_integer(n));
  return constant(std::move(a));
}

std::vector<int> TorchNode::promoted(const std::vector<const char*>& names) {
  std::optional<DType> by_kind[3];  // tensors, tensors without dimensions, numbers
  for (const char* name : names) {
    int kind = 2;
    DType t = kFloat32;
    if (is_tensor(name)) {
      const int v = tensor(name);
      kind = rank(v) > 0 ? 0 : 1;
      t = dtype(v);
    } else {
      const Number n = number(name);
      t = std::holds_alternative<double>(n) ? kFloat32 : std::holds_alternative<bool>(n) ? kBool : kInt64;
    }
    by_kind[kind] = by_kind[kind] ? promoted_pair(*by_kind[kind], t) : t;
  }
  std::optional<DType> result;
  for (const auto& t : by_kind) {
    if (!t) continue;
    if (!result)
      result = t;
    else if (category(*t) > category(*result))
      result = t;
  }
  std::vector<int> out;
  for (const char* name : names) out.push_back(operand_in(name, *result));
  return out;
}

}  // namespace tw::frontends
