// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/importer.h"
#include "engine/frontends/onnx/limits.h"

namespace tw::frontends {

OnnxNode::OnnxNode(Importer& importer, const onnx::NodeProto& proto, const Scope& scope)
    : Emitter(importer.builder(), !proto.name().empty() ? proto.name() : proto.output_size() > 0 ? proto.output(0) : proto.op_type(),
              proto.output_size() > 0 ? proto.output(0) + ".constant" : "constant", printable(proto.op_type().substr(0, 64))),
      importer_(importer),
      proto_(proto),
      scope_(scope) {
  for (const std::string& name : proto.input()) {
    if (name.empty()) {
      inputs_.push_back(kAbsent);
      continue;
    }
    const int* v = scope.find(name);
    if (!v) invalid(fmt::format("operand '{}' is not defined before it", printable(name.substr(0, 256))));
    inputs_.push_back(*v);
  }
}

std::string node_place(const onnx::NodeProto& n) {
  const std::string& name = !n.name().empty() ? n.name() : n.output_size() > 0 ? n.output(0) : n.op_type();
  return fmt::format("node '{}' ({})", printable(name.substr(0, 256)), printable(n.op_type().substr(0, 64)));
}
std::string OnnxNode::where() const { return node_place(proto_); }
int OnnxNode::in(int i) const {
  if (!has(i)) invalid(fmt::format("operand {} is required but absent", i));
  const int v = inputs_[static_cast<size_t>(i)];
  if (v < 0) unsupported(fmt::format("operand {} is a sequence or an optional value that holds nothing, expected a tensor", i));
  return v;
}
std::vector<int> OnnxNode::sequence(int i) const {
  if (!has(i)) invalid(fmt::format("operand {} is required but absent", i));
  if (any(i) >= 0 || any(i) == kNothing) unsupported(fmt::format("operand {} is no sequence", i));
  return importer_.items(any(i));
}
int64_t OnnxNode::element_type(int v) const { return narrow(v) ? importer_.narrow(v) : onnx_of_dtype(dtype(v)); }
std::vector<int> OnnxNode::all_inputs() const {
  std::vector<int> out;
  for (int i = 0; i < num_inputs(); ++i) out.push_back(in(i));
  if (out.empty()) invalid("no operands");
  return out;
}

const HostArray& OnnxNode::constant_input(int i, const char* what) const {
  const HostArray* c = constant_of(in(i));
  if (!c) unsupported(fmt::format("expected {} (operand {}) to be known while importing, found a value that is computed at run time", what, i));
  return *c;
}
Dims OnnxNode::integers_input(int i, const char* what) const {
  const HostArray& c = constant_input(i, what);
  if (c.shape.size() > 1 || !c.dtype.is_int())
    invalid(fmt::format("expected {} to be a list of integers, found {}{}", what, c.dtype.name(), shape_text(c.shape)));
  Dims out;
  for (int64_t k = 0; k < c.num_elements(); ++k) out.push_back(c.get_int(k));
  return out;
}
double OnnxNode::number_input(int i, const char* what) const {
  const HostArray& c = constant_input(i, what);
  if (c.num_elements() != 1) invalid(fmt::format("expected {} to be one number, found shape {}", what, shape_text(c.shape)));
  return c.get(0);
}

const onnx::AttributeProto* OnnxNode::attr(const std::string& name) const {
  for (const onnx::AttributeProto& a : proto_.attribute()) {
    if (a.name() != name) continue;
    if (a.ref_attr_name().empty()) return &a;
    if (!scope_.attributes) invalid(fmt::format("attribute '{}' refers to a function's attribute outside of a function", name));
    const auto it = scope_.attributes->find(a.ref_attr_name());
    return it == scope_.attributes->end() ? nullptr : it->second;
  }
  return nullptr;
}
const onnx::AttributeProto* OnnxNode::attr_of_type(const std::string& name, onnx::AttributeProto::AttributeType type, const char* what) const {
  const onnx::AttributeProto* a = attr(name);
  // Files of the first format version leave the type out.
  if (a && a->type() != type && a->type() != onnx::AttributeProto::UNDEFINED)
    invalid(fmt::format("expected {} in attribute '{}', found another kind of value", what, name));
  return a;
}
int64_t OnnxNode::integer(const std::string& name, int64_t fallback) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::INT, "an integer");
  return a ? a->i() : fallback;
}
double OnnxNode::real(const std::string& name, double fallback) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::FLOAT, "a number");
  return a ? static_cast<double>(a->f()) : fallback;
}
std::string OnnxNode::text(const std::string& name, const std::string& fallback) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::STRING, "a text");
  if (a && static_cast<int64_t>(a->s().size()) > onnx_limits::kStringBytes) invalid(fmt::format("the text in attribute '{}' is longer than 1 MiB", name));
  return a ? a->s() : fallback;
}
Dims OnnxNode::integers(const std::string& name, Dims fallback) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::INTS, "a list of integers");
  return a ? Dims(a->ints().begin(), a->ints().end()) : std::move(fallback);
}
std::vector<double> OnnxNode::reals(const std::string& name, std::vector<double> fallback) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::FLOATS, "a list of numbers");
  return a ? std::vector<double>(a->floats().begin(), a->floats().end()) : std::move(fallback);
}
std::vector<std::string> OnnxNode::texts(const std::string& name) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::STRINGS, "a list of texts");
  return a ? std::vector<std::string>(a->strings().begin(), a->strings().end()) : std::vector<std::string>{};
}
std::optional<int> OnnxNode::tensor(const std::string& name) {
  if (const auto* a = attr(name); a && a->has_sparse_tensor()) {
    const int64_t type = a->sparse_tensor().values().data_type();
    const int v = constant(importer_.tensor(a->sparse_tensor()));
    return is_narrow(type) ? narrowed(v, type) : v;
  }
  const auto* a = attr_of_type(name, onnx::AttributeProto::TENSOR, "a tensor");
  if (!a || !a->has_t()) return std::nullopt;
  const int v = constant(importer_.tensor(a->t()));
  return is_narrow(a->t().data_type()) ? narrowed(v, a->t().data_type()) : v;
}
const onnx::GraphProto& OnnxNode::subgraph(const std::string& name) const {
  const auto* a = attr_of_type(name, onnx::AttributeProto::GRAPH, "a graph");
  if (!a || !a->has_g()) invalid(fmt::format("attribute '{}' is required but absent", name));
  return a->g();
}
std::optional<Dims> OnnxNode::integers_either(const std::string& name, int i, int64_t since) const {
  if (opset() >= since) return has(i) ? std::optional(integers_input(i, name.c_str())) : std::nullopt;
  return has_attr(name) ? std::optional(integers(name, {})) : std::nullopt;
}

int OnnxNode::narrowed(int v, int64_t data_type) {
  importer_.set_narrow(v, data_type);
  return v;
}

}  // namespace tw::frontends
