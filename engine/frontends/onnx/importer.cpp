// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/importer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/newer_fields.h"
#include "engine/frontends/onnx/node_order.h"
#include "engine/frontends/onnx/onnx_inputs.h"
#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/onnx/tensor_reader.h"
#include "engine/frontends/torch/origin.h"

namespace tw::frontends {

namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 28;

bool is_standard_domain(const std::string& d) { return d.empty() || d == "ai.onnx"; }
std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return (is_standard_domain(domain) ? "" : domain) + "::" + name + (overload.empty() ? "" : ":" + overload);
}
std::string operator_name(const onnx::NodeProto& node) {
  const std::string domain = is_standard_domain(node.domain()) ? "" : fmt::format(" of domain '{}'", printable(node.domain().substr(0, 64)));
  return fmt::format("'{}'{}", printable(node.op_type().substr(0, 64)), domain);
}

/// PyTorch's exporters say where a node comes from: the newer one in metadata, the older one in the node's name, `/layer1/layer1.0/conv1/Conv`.
graph::Origin origin_of_node(const onnx::NodeProto& node) {
  const auto metadata = metadata_of(node);
  const auto scopes = metadata.find("pkg.torch.onnx.name_scopes"), trace = metadata.find("pkg.torch.onnx.stack_trace");
  std::string stack;
  if (scopes != metadata.end()) {  // ['', 'layer1', 'layer1.0', 'relu']: the last one is the call itself
    const std::string& s = scopes->second;
    const size_t call = s.rfind(", '"), before = call == std::string::npos || call == 0 ? std::string::npos : s.rfind('\'', call - 1);
    const size_t start = before == std::string::npos || before == 0 ? std::string::npos : s.rfind('\'', before - 1);
    if (start != std::string::npos) stack = "," + s.substr(start + 1, before - start - 1);
  } else if (node.name().starts_with('/') && node.name().rfind('/') > 0) {
    stack = "," + node.name().substr(1, node.name().rfind('/') - 1);
  }
  return origin_of(stack, trace == metadata.end() ? std::string() : trace->second);
}

template <class Imports>
int64_t standard_opset(const Imports& imports, int64_t fallback) {
  int64_t opset = fallback;
  for (const auto& o : imports)
    if (is_standard_domain(o.domain())) opset = std::max<int64_t>(opset == fallback ? 0 : opset, o.version());
  return opset;
}

void check_opset(int64_t opset) {
  if (opset < kOldestOpset || opset > kNewestOpset)
    refuse(ErrorCode::unsupported, fmt::format("Expected a model of ONNX opset {} to {}, found opset {}", kOldestOpset, kNewestOpset, opset));
}

}  // namespace

const int* Scope::find(const std::string& name) const {
  for (const Scope* s = this; s; s = s->parent)
    if (const auto it = s->values.find(name); it != s->values.end()) return &it->second;
  return nullptr;
}

Importer::Importer(onnx::ModelProto& model, const ImportOptions& options, ExternalData& external)
    : model_(model), options_(options), external_(external), builder_(model.graph().name().empty() ? "model" : model.graph().name().substr(0, 256)) {}

graph::Graph Importer::run() {
  root_.opset = standard_opset(model_.opset_import(), 0);
  if (model_.opset_import_size() == 0) refuse(ErrorCode::parse_error, "Expected an ONNX model, found no operator set version");
  // A model of other domains alone is refused at its first node, by name.
  const auto& imports = model_.opset_import();
  if (std::any_of(imports.begin(), imports.end(), [](const auto& o) { return is_standard_domain(o.domain()); })) check_opset(root_.opset);
  for (const onnx::FunctionProto& f : model_.functions()) functions_.emplace(function_key(f.domain(), f.name(), overload_of(f)), &f);
  refuse_unknown_operators();
  for (onnx::TensorProto& t : *model_.mutable_graph()->mutable_initializer()) {
    onnx::TensorProto taken;
    taken.Swap(&t);
    add_initializer(taken, taken.name(), taken.data_type(), root_);
  }
  add_sparse_initializers(model_.graph(), root_);
  add_inputs();
  add_nodes(model_.graph().node(), root_);
  add_outputs(root_);
  return std::move(builder_.builder()).finish();
}

void Importer::count_tensor() {
  if (++tensor_count_ > onnx_limits::kTensors)
    refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} constant tensors, found more", onnx_limits::kTensors));
}

HostArray Importer::tensor(const onnx::TensorProto& t) {
  count_tensor();
  return checked(read_tensor(t, external_));
}
HostArray Importer::tensor(const onnx::SparseTensorProto& t) {
  count_tensor();
  return checked(read_sparse_tensor(t, external_));
}

template <typename Tensor>
void Importer::add_initializer(const Tensor& t, const std::string& name, int64_t data_type, Scope& scope) {
  if (name.empty()) refuse(ErrorCode::parse_error, "Expected a name for every initialiser, found one without");
  if (!scope.values.emplace(name, -1).second)
    refuse(ErrorCode::parse_error, fmt::format("Initialiser '{}' is defined twice", printable(name.substr(0, 256))));
  const int v = builder_.constant(name, tensor(t));
  scope.values[name] = v;
  if (is_narrow(data_type)) set_narrow(v, data_type);
}

void Importer::add_sparse_initializers(const onnx::GraphProto& g, Scope& scope) {
  for (const onnx::SparseTensorProto& t : g.sparse_initializer()) add_initializer(t, t.values().name(), t.values().data_type(), scope);
}

int64_t Importer::narrow(int v) const {
  const auto it = narrow_.find(v);
  return it == narrow_.end() ? 0 : it->second;
}
void Importer::set_narrow(int v, int64_t data_type) {
  if (v >= 0) narrow_[v] = data_type;
}

int Importer::sequence(std::vector<int> items) {
  sequences_.push_back(std::move(items));
  return -1 - static_cast<int>(sequences_.size());
}

void Importer::count_unknown(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, std::map<std::string, int>& counts, std::string& first,
                             std::set<std::string>& seen) const {
  for (const onnx::NodeProto& n : nodes) {
    const std::string key = function_key(n.domain(), n.op_type(), overload_of(n));
    if (const auto f = functions_.find(key); f != functions_.end()) {
      if (seen.insert(key).second) count_unknown(f->second->node(), counts, first, seen);
    } else if (!find_onnx_op(n.domain(), n.op_type()) && !(root_.opset == 0 && is_standard_domain(n.domain()))) {
      ++counts[operator_name(n)];
      if (first.empty()) first = node_place(n);
    }
  }
}

/// All at once, so that a person sees how far away a model is.
void Importer::refuse_unknown_operators() const {
  std::map<std::string, int> counts;
  std::set<std::string> seen;
  std::string first;
  count_unknown(model_.graph().node(), counts, first, seen);
  if (counts.empty()) return;
  std::string all;
  for (const auto& [name, count] : counts) all += fmt::format("{}{}{}", all.empty() ? "" : ", ", name, count > 1 ? fmt::format(" ({} times)", count) : "");
  const bool of_one_machine = std::any_of(counts.begin(), counts.end(), [](const auto& c) { return c.first.find("com.microsoft.nchwc") != std::string::npos; });
  refuse(ErrorCode::unsupported, fmt::format("{} {} not supported{}", counts.size() == 1 ? "Operator" : "Operators", all + (counts.size() == 1 ? " is" : " are"),
                                             of_one_machine ? fmt::format("; {}", kOfOneMachine) : ""),
         first);
}

void Importer::add_inputs() {
  if (auto sizes = check_sizes(model_.graph(), options_); !sizes) throw Refusal{std::move(sizes).error()};
  std::set<std::string> used_dims, used_constants;
  for (const onnx::ValueInfoProto& v : model_.graph().input()) {
    if (root_.values.count(v.name())) continue;  // an initialiser with a default value: kept constant
    if (const auto fixed = options_.constants.find(v.name()); fixed != options_.constants.end()) {
      used_constants.insert(v.name());
      root_.values[v.name()] = builder_.constant(v.name(), fixed->second);
      if (is_narrow(v.type().tensor_type().elem_type())) set_narrow(root_.values[v.name()], v.type().tensor_type().elem_type());
      continue;
    }
    if (const auto value = options_.dims.find(v.name()); value != options_.dims.end() && is_one_integer(v)) {
      used_dims.insert(v.name());
      HostArray a = HostArray::make(checked(element_of_onnx(v.type().tensor_type().elem_type())).storage,
                                    Dims(static_cast<size_t>(v.type().tensor_type().shape().dim_size()), 1));
      a.set_int(0, value->second);
      if (a.get_int(0) != value->second)
        refuse(ErrorCode::invalid_argument, fmt::format("Expected a value of {} for input '{}', found {}", a.dtype.name(), printable(v.name()), value->second));
      root_.values[v.name()] = builder_.constant(v.name(), std::move(a));
      continue;
    }
    const graph::TensorType type = checked(input_type(v, options_, used_dims));
    const int input = builder_.builder().input(v.name(), type);
    // An input without elements stays one of the model, but nothing has to be read from it.
    root_.values[v.name()] = type.num_elements() == 0 ? builder_.constant(v.name() + ".empty", HostArray::make(type.dtype, type.shape)) : input;
    if (is_narrow(v.type().tensor_type().elem_type())) set_narrow(root_.values[v.name()], v.type().tensor_type().elem_type());
  }
  for (const auto& [name, size] : options_.dims)
    if (!used_dims.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input has a dynamic dimension called '{}'", printable(name)));
  for (const auto& [name, shape] : options_.shapes)
    if (!root_.values.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input is called '{}'", printable(name)));
  for (const auto& [name, array] : options_.constants)
    if (!used_constants.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input is called '{}'", printable(name)));
}

std::string Importer::open_integers() const {
  std::string all;
  for (const OpenSize& s : open_sizes_of(model_.graph()))
    if (s.is_input && !options_.dims.count(s.name) && !options_.constants.count(s.name))
      all += fmt::format("{}--dim {}=VALUE", all.empty() ? "" : " or ", printable(s.name));
  return all;
}

void Importer::add_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope) {
  for (const onnx::NodeProto* n : in_order(nodes)) {
    if (++node_count_ > onnx_limits::kNodes) refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} nodes, found more", onnx_limits::kNodes));
    add_node(*n, scope);
  }
}

void Importer::add_node(const onnx::NodeProto& node, Scope& scope) {
  const size_t before = builder_.builder().graph().nodes.size();
  if (const auto f = functions_.find(function_key(node.domain(), node.op_type(), overload_of(node))); f != functions_.end())
    return inline_function(*f->second, node, scope);
  builder_.builder().set_origin(origin_of_node(node));
  OnnxNode n(*this, node, scope);
  if (scope.opset == 0 && is_standard_domain(node.domain()))
    refuse(ErrorCode::parse_error, "Expected the version of ONNX's operator set, the model names none", n.where());
  const OnnxOp* op = find_onnx_op(node.domain(), node.op_type());
  if (!op) refuse(ErrorCode::unsupported, fmt::format("Operator {} is not supported", operator_name(node)), n.where());
  int64_t moved = 0;
  for (int i = 0; i < n.num_inputs(); ++i) {
    const int64_t type = n.any(i) >= 0 ? narrow(n.any(i)) : 0;
    if (type != 0 && op->narrow == Narrow::refused)
      n.unsupported(fmt::format("operand {} of element type {}; only casts, quantisation and what moves data take those", i, onnx_dtype_name(type)));
    if (moved == 0) moved = type;
  }
  const std::vector<int> results = op->convert(n);
  if (moved != 0 && op->narrow == Narrow::moved)
    for (const int v : results) set_narrow(v, moved);
  bind_outputs(node, results, scope);
  log_.note(node.op_type(), before, builder_, results);
}

void Importer::bind_outputs(const onnx::NodeProto& node, const std::vector<int>& results, Scope& scope) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const OnnxNode n(*this, node, scope);
    if (i >= static_cast<int>(results.size()) || results[static_cast<size_t>(i)] == kAbsent)
      n.unsupported(fmt::format("output {} ('{}') is not supported", i, printable(name.substr(0, 256))));
    const int v = results[static_cast<size_t>(i)];
    if (!scope.values.emplace(name, v).second) n.invalid(fmt::format("value '{}' is defined twice", printable(name.substr(0, 256))));
    // A fresh result takes the file's name; operands handed through and constants keep theirs.
    if (v >= 0 && value(v).producer >= 0 && value(v).name.ends_with(".out") && !scope.parent) builder_.builder().rename(v, name);
  }
}

void Importer::inline_function(const onnx::FunctionProto& f, const onnx::NodeProto& call, Scope& scope) {
  const OnnxNode n(*this, call, scope);
  std::unordered_map<std::string, const onnx::AttributeProto*> attributes;
  for (const onnx::AttributeProto& a : call.attribute()) {
    const onnx::AttributeProto* actual = &a;
    if (!a.ref_attr_name().empty()) {
      const auto it =
          scope.attributes ? scope.attributes->find(a.ref_attr_name()) : std::unordered_map<std::string, const onnx::AttributeProto*>::const_iterator{};
      if (!scope.attributes || it == scope.attributes->end()) continue;
      actual = it->second;
    }
    attributes[a.name()] = actual;
  }
  const std::vector<onnx::AttributeProto> defaults = attribute_defaults(f);
  for (const onnx::AttributeProto& a : defaults) attributes.emplace(a.name(), &a);
  Scope body{nullptr, {}, &attributes, standard_opset(f.opset_import(), scope.opset), scope.depth + 1};
  if (body.depth > onnx_limits::kNesting) n.unsupported(fmt::format("functions are nested deeper than {}", onnx_limits::kNesting));
  check_opset(body.opset);
  for (int i = 0; i < f.input_size(); ++i) body.values[f.input(i)] = n.any(i);
  const size_t before = builder_.builder().graph().nodes.size();
  add_nodes(f.node(), body);
  std::vector<int> results;
  for (const std::string& o : f.output()) {
    const int* v = body.find(o);
    results.push_back(v ? *v : kAbsent);
  }
  bind_outputs(call, results, scope);
  log_.note(call.op_type(), before, builder_, results);
}

std::vector<int> Importer::inline_graph(const onnx::GraphProto& g, const Scope& outer, const std::vector<int>& inputs) {
  Scope body{&outer, {}, outer.attributes, outer.opset, outer.depth + 1};
  if (body.depth > onnx_limits::kNesting) refuse(ErrorCode::unsupported, fmt::format("Branches are nested deeper than {}", onnx_limits::kNesting));
  if (static_cast<int>(inputs.size()) != g.input_size())
    refuse(ErrorCode::parse_error, fmt::format("Expected {} inputs of a branch, found {}", inputs.size(), g.input_size()));
  for (size_t k = 0; k < inputs.size(); ++k) body.values[g.input(static_cast<int>(k)).name()] = inputs[k];
  for (const onnx::TensorProto& t : g.initializer()) add_initializer(t, t.name(), t.data_type(), body);
  add_sparse_initializers(g, body);
  add_nodes(g.node(), body);
  std::vector<int> results;
  for (const onnx::ValueInfoProto& o : g.output()) {
    const int* v = body.find(o.name());
    if (!v) refuse(ErrorCode::parse_error, fmt::format("Output '{}' of a branch is not defined", printable(o.name().substr(0, 256))));
    results.push_back(*v);
  }
  return results;
}

void Importer::add_outputs(const Scope& scope) {
  if (model_.graph().output_size() == 0) refuse(ErrorCode::parse_error, "Expected a model with outputs, found none");
  std::vector<std::pair<std::string, int>> outputs;
  for (const onnx::ValueInfoProto& o : model_.graph().output()) {
    const std::string shown = printable(o.name().substr(0, 256));
    const int* found = scope.find(o.name());
    if (!found) refuse(ErrorCode::parse_error, fmt::format("Output '{}' is not defined by any node", shown));
    if (*found < 0) refuse(ErrorCode::unsupported, fmt::format("Output '{}' is a sequence or an optional value, expected a tensor", shown));
    outputs.emplace_back(o.name(), *found);
  }
  builder_.add_outputs(outputs);
}

}  // namespace tw::frontends
