// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/importer.h"

#include <algorithm>
#include <set>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_inputs.h"
#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 21;

template <class T>
T checked(Expected<T> e) {
  if (!e) throw Refusal{std::move(e).error()};
  return std::move(*e);
}
[[noreturn]] void refuse(ErrorCode code, const std::string& message, const std::string& where = {}) { throw Refusal{Error(code, message, where)}; }

bool is_standard_domain(const std::string& d) { return d.empty() || d == "ai.onnx"; }
std::string function_key(const std::string& domain, const std::string& name) { return (is_standard_domain(domain) ? "" : domain) + "::" + name; }

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

void refuse_sparse(const onnx::GraphProto& g) {
  if (g.sparse_initializer_size() > 0) refuse(ErrorCode::unsupported, "Sparse initialisers are not supported");
}

/// Expressions evaluated to compute everything in the dag.
double evaluation_steps(const te::Dag& dag) {
  double steps = 0;
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    double n = static_cast<double>(op.output->num_elements());
    for (const te::Axis& a : op.reduce_axes) n *= static_cast<double>(a.extent);
    steps += n;
  }
  return steps;
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
  for (const onnx::FunctionProto& f : model_.functions()) functions_.emplace(function_key(f.domain(), f.name()), &f);
  refuse_sparse(model_.graph());
  for (onnx::TensorProto& t : *model_.mutable_graph()->mutable_initializer()) {
    onnx::TensorProto taken;
    taken.Swap(&t);
    add_initializer(taken, root_);
  }
  add_inputs();
  add_nodes(model_.graph().node(), root_);
  add_outputs(root_);
  return std::move(builder_).finish();
}

HostArray Importer::tensor(const onnx::TensorProto& t) {
  if (++tensor_count_ > onnx_limits::kTensors)
    refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} constant tensors, found more", onnx_limits::kTensors));
  return checked(read_tensor(t, external_));
}

void Importer::add_initializer(const onnx::TensorProto& t, Scope& scope) {
  if (t.name().empty()) refuse(ErrorCode::parse_error, "Expected a name for every initialiser, found one without");
  if (!scope.values.emplace(t.name(), -1).second)
    refuse(ErrorCode::parse_error, fmt::format("Initialiser '{}' is defined twice", printable(t.name().substr(0, 256))));
  scope.values[t.name()] = builder_.constant(t.name(), tensor(t));
}

void Importer::add_inputs() {
  std::set<std::string> used_dims, used_constants;
  for (const onnx::ValueInfoProto& v : model_.graph().input()) {
    if (root_.values.count(v.name())) continue;  // an initialiser with a default value: kept constant
    if (const auto fixed = options_.constants.find(v.name()); fixed != options_.constants.end()) {
      used_constants.insert(v.name());
      root_.values[v.name()] = builder_.constant(v.name(), fixed->second);
      continue;
    }
    root_.values[v.name()] = builder_.input(v.name(), checked(input_type(v, options_, used_dims)));
  }
  for (const auto& [name, size] : options_.dims)
    if (!used_dims.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input has a dynamic dimension called '{}'", printable(name)));
  for (const auto& [name, array] : options_.constants)
    if (!used_constants.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input is called '{}'", printable(name)));
}

void Importer::add_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, Scope& scope) {
  for (const onnx::NodeProto& n : nodes) {
    if (++node_count_ > onnx_limits::kNodes) refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} nodes, found more", onnx_limits::kNodes));
    add_node(n, scope);
  }
}

void Importer::add_node(const onnx::NodeProto& node, Scope& scope) {
  if (const auto f = functions_.find(function_key(node.domain(), node.op_type())); f != functions_.end()) return inline_function(*f->second, node, scope);
  OnnxNode n(*this, node, scope);
  if (scope.opset == 0 && is_standard_domain(node.domain()))
    refuse(ErrorCode::parse_error, "Expected the version of ONNX's operator set, the model names none", n.where());
  const bool known_domain = is_standard_domain(node.domain()) || (node.domain() == "com.microsoft" && node.op_type() == "Gelu");
  const OnnxOp* op = known_domain ? find_onnx_op(node.op_type()) : nullptr;
  if (!op) {
    const std::string domain = is_standard_domain(node.domain()) ? "" : fmt::format(" of domain '{}'", printable(node.domain().substr(0, 64)));
    refuse(ErrorCode::unsupported, fmt::format("Operator '{}'{} is not supported", printable(node.op_type().substr(0, 64)), domain), n.where());
  }
  bind_outputs(node, op->convert(n), scope);
}

void Importer::bind_outputs(const onnx::NodeProto& node, const std::vector<int>& results, Scope& scope) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    const OnnxNode n(*this, node, scope);
    if (i >= static_cast<int>(results.size()) || results[static_cast<size_t>(i)] < 0)
      n.unsupported(fmt::format("output {} ('{}') is not supported", i, printable(name.substr(0, 256))));
    const int v = results[static_cast<size_t>(i)];
    if (!scope.values.emplace(name, v).second) n.invalid(fmt::format("value '{}' is defined twice", printable(name.substr(0, 256))));
    // A fresh result takes the file's name; operands handed through and constants keep theirs.
    if (value(v).producer >= 0 && value(v).name.ends_with(".out") && !scope.parent) builder_.rename(v, name);
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
  Scope body{nullptr, {}, &attributes, standard_opset(f.opset_import(), scope.opset), scope.depth + 1};
  if (body.depth > onnx_limits::kNesting) n.unsupported(fmt::format("functions are nested deeper than {}", onnx_limits::kNesting));
  check_opset(body.opset);
  for (int i = 0; i < f.input_size(); ++i)
    if (n.has(i)) body.values[f.input(i)] = n.in(i);
  add_nodes(f.node(), body);
  std::vector<int> results;
  for (const std::string& o : f.output()) {
    const int* v = body.find(o);
    results.push_back(v ? *v : -1);
  }
  bind_outputs(call, results, scope);
}

std::vector<int> Importer::inline_graph(const onnx::GraphProto& g, const Scope& outer, const std::vector<int>& inputs) {
  Scope body{&outer, {}, outer.attributes, outer.opset, outer.depth + 1};
  if (body.depth > onnx_limits::kNesting) refuse(ErrorCode::unsupported, fmt::format("Branches are nested deeper than {}", onnx_limits::kNesting));
  if (static_cast<int>(inputs.size()) != g.input_size())
    refuse(ErrorCode::parse_error, fmt::format("Expected {} inputs of a branch, found {}", inputs.size(), g.input_size()));
  for (size_t k = 0; k < inputs.size(); ++k) body.values[g.input(static_cast<int>(k)).name()] = inputs[k];
  refuse_sparse(g);
  for (const onnx::TensorProto& t : g.initializer()) add_initializer(t, body);
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
  std::set<int> taken;
  for (const onnx::ValueInfoProto& o : model_.graph().output()) {
    const int* found = scope.find(o.name());
    if (!found) refuse(ErrorCode::parse_error, fmt::format("Output '{}' is not defined by any node", printable(o.name().substr(0, 256))));
    int v = *found;
    const graph::Value& result = value(v);
    if (result.type.num_elements() == 0)
      refuse(ErrorCode::unsupported, fmt::format("Output '{}' has no elements: {}", printable(o.name().substr(0, 256)), result.type.text()));
    if (result.producer < 0 || !taken.insert(v).second) {  // every output gets a node of its own
      v = checked(builder_.node("identity", {v}, {}, o.name() + ".copy"))[0];
      taken.insert(v);
    }
    builder_.name_output(v, o.name());
    builder_.output(v);
  }
}

int Importer::emit(const std::string& op, const std::vector<int>& inputs, graph::Attrs attrs, const std::string& name) {
  bool constant = !inputs.empty();
  for (const int v : inputs) {
    if (v < 0) continue;
    constant = constant && value(v).constant;
    if (value(v).type.num_elements() == 0) refuse(ErrorCode::unsupported, fmt::format("Operand '{}' has no elements: {}", value(v).name, value(v).type.text()));
  }
  if (constant)
    if (auto folded = evaluate(op, inputs, attrs)) return builder_.constant(name + ".folded", std::move(*folded));
  return checked(builder_.node(op, inputs, std::move(attrs), name))[0];
}

std::optional<HostArray> Importer::evaluate(const std::string& op, const std::vector<int>& inputs, const graph::Attrs& attrs) const {
  const graph::OpDef* def = graph::find_op(op);
  TW_ASSERT(def != nullptr, "operator " + op);
  const graph::Node node{.name = op, .op = op, .inputs = inputs, .outputs = {}, .attrs = attrs};
  graph::OpContext context = graph::context_of(builder_.graph(), node);
  context.outputs = checked(def->infer(context));
  if (op == "reshape") {  // any size: only the shape changes
    HostArray copy = *context.constants[0];
    copy.shape = context.outputs[0].shape;
    return copy;
  }
  te::DagBuilder b;
  std::vector<std::optional<te::Tensor>> operands;
  std::vector<HostArray> arrays;
  int64_t elements = 0;
  for (const auto& c : context.constants) elements += c ? c->num_elements() : 0;
  if (elements > onnx_limits::kFoldSteps) return std::nullopt;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!context.inputs[i]) {
      operands.emplace_back();
      continue;
    }
    operands.push_back(b.placeholder("p", context.inputs[i]->shape, context.inputs[i]->dtype, te::Role::constant));
    arrays.push_back(*context.constants[i]);
  }
  const auto results = checked(def->to_te(b, context, operands));
  const te::DagPtr dag = std::move(b).finish(results);
  if (evaluation_steps(*dag) > static_cast<double>(onnx_limits::kFoldSteps)) return std::nullopt;
  return std::move(checked(te::interpret(*dag, arrays))[0]);
}

}  // namespace tw::frontends
