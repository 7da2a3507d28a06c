// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/torch_importer.h"

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "engine/frontends/prune.h"
#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"
#include "engine/frontends/torch/origin.h"
#include "engine/frontends/torch/symbols.h"

namespace tw::frontends {

namespace {

std::string shown(const std::string& name) { return printable(name.substr(0, 256)); }

/// `torch.ops.aten.add.Tensor` is `aten.add` with the overload `Tensor`; other functions have none.
std::string plain_name(const std::string& target) {
  constexpr std::string_view kOps = "torch.ops.";
  if (!target.starts_with(kOps)) return target;
  const size_t space = target.find('.', kOps.size());
  const size_t overload = space == std::string::npos ? space : target.find('.', space + 1);
  return target.substr(kOps.size(), overload == std::string::npos ? overload : overload - kOps.size());
}

/// The parts of a call's metadata that graphs hang on.
const Json* subgraph_of(const Json& input) {
  const Json* arg = optional_field(input, "arg");
  const Json* graph = arg ? optional_field(*arg, "as_graph") : nullptr;
  return graph ? optional_field(*graph, "graph") : nullptr;
}

}  // namespace

double as_real(const Number& n) {
  return std::visit([](auto v) { return static_cast<double>(v); }, n);
}
int64_t as_integer(const Number& n) {
  if (const double* v = std::get_if<double>(&n)) return std::abs(*v) < 9e18 ? static_cast<int64_t>(*v) : 0;
  return std::visit([](auto v) { return static_cast<int64_t>(v); }, n);
}

TorchImporter::TorchImporter(Program& program, const ImportOptions& options) : program_(program), options_(options), builder_("model") {}

graph::Graph TorchImporter::run() {
  const Json& graph = field(program_.graph_module(), "graph", "the program");
  refuse_unknown(graph);
  tensors_ = &field(graph, "tensor_values", "the graph");
  add_inputs();
  add_nodes(field(graph, "nodes", "the graph"));
  builder_.add_outputs(outputs());
  return prune(std::move(builder_.builder()).finish());
}

void TorchImporter::count_unknown(const Json& graph, std::map<std::string, int>& counts, int depth) const {
  if (depth > torch_limits::kNesting)
    refuse(ErrorCode::resource_limit, fmt::format("Expected graphs nested at most {} deep, found deeper ones", torch_limits::kNesting));
  for (const Json& node : field(graph, "nodes", "the graph")) {
    const std::string name = plain_name(text_of(field(node, "target", "a node"), "a node's function"));
    if (!find_aten_op(name)) ++counts[name];
    for (const Json& input : field(node, "inputs", "a node"))
      if (const Json* inner = subgraph_of(input)) count_unknown(*inner, counts, depth + 1);
  }
}

/// All at once, so that a person sees how far away a model is.
void TorchImporter::refuse_unknown(const Json& graph) const {
  std::map<std::string, int> counts;
  count_unknown(graph, counts, 0);
  if (counts.empty()) return;
  std::string all;
  for (const auto& [name, count] : counts)
    all += fmt::format("{}'{}'{}", all.empty() ? "" : ", ", shown(name), count > 1 ? fmt::format(" ({} times)", count) : "");
  refuse(ErrorCode::unsupported,
         fmt::format("{} {} not supported", counts.size() == 1 ? "Function" : "Functions", all + (counts.size() == 1 ? " is" : " are")));
}

// ---- Sizes

int64_t TorchImporter::size_now(const SymbolicSize& s, const std::string& where) const {
  if (s.expression.empty()) return s.number;
  auto v = evaluate_size(s.expression, symbols_);
  if (!v) refuse(v.error().code, v.error().message, where);
  if (!(*v >= 0 && *v <= 1e15) || *v != std::floor(*v))
    refuse(ErrorCode::invalid_argument, fmt::format("Expected a whole size of at least 0, found {}", *v), where);
  return static_cast<int64_t>(*v);
}

/// Symbols take their value from `options.dims`, under their own name or as INPUT.AXIS, and else from the example that the program was exported with.
void TorchImporter::bind_symbols(const std::vector<std::string>& inputs) {
  std::set<std::string> used;
  for (const auto& [name, value] : options_.dims)
    if (program_.ranges() && program_.ranges()->contains(name)) {
      symbols_[name] = value;
      used.insert(name);
    }
  for (const std::string& input : inputs) {
    const Json* meta = meta_of(input);
    if (!meta) continue;
    const TensorMeta m = tensor_meta(*meta, shown(input));
    for (size_t d = 0; d < m.sizes.size(); ++d) {
      if (m.sizes[d].expression.empty()) continue;
      const auto symbol = only_symbol(m.sizes[d].expression);
      if (!symbol) continue;
      const std::string place = fmt::format("{}.{}", input, d);
      const auto given = options_.dims.find(place);
      if (given != options_.dims.end()) used.insert(place);
      if (given == options_.dims.end() && symbols_.count(*symbol)) continue;
      const int64_t wanted = given != options_.dims.end() ? given->second : m.sizes[d].number;
      // Most often the size is the symbol itself.
      const auto solved = symbol_for(m.sizes[d].expression, *symbol, wanted);
      if (!solved)
        refuse(ErrorCode::invalid_argument,
               fmt::format("Input '{}' cannot have the extent {} in dimension {}: it is {}", shown(input), wanted, d, shown(m.sizes[d].expression)));
      symbols_[*symbol] = *solved;
    }
  }
  for (const auto& [name, value] : options_.dims)
    if (!used.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input has a dynamic dimension called '{}'", shown(name)));
  if (!program_.ranges()) return;
  for (const auto& [name, range] : program_.ranges()->items()) {
    const auto it = symbols_.find(name);
    if (it == symbols_.end()) continue;
    const Json *low = optional_field(range, "min_val"), *high = optional_field(range, "max_val");
    if ((low && low->is_number_integer() && it->second < least_size(low->get<int64_t>())) ||
        (high && high->is_number_integer() && it->second > high->get<int64_t>()))
      refuse(ErrorCode::invalid_argument,
             fmt::format("Expected a size '{}' from {} to {}, found {}", shown(name), low ? low->dump() : "0", high ? high->dump() : "any", it->second));
  }
}

// ---- References

int TorchImporter::reference(int value) {
  storages_.push_back({value});
  references_.push_back({static_cast<int>(storages_.size()) - 1, {}, value, 0});
  return static_cast<int>(references_.size()) - 1;
}

int TorchImporter::viewed(int index, const ViewStep& step) {
  Reference r = references_[static_cast<size_t>(index)];
  r.steps.push_back(step);
  r.version = -1;
  references_.push_back(std::move(r));
  return static_cast<int>(references_.size()) - 1;
}

int TorchImporter::apply(const ViewStep& step, int value, const std::string& name) {
  switch (step.kind) {
    case ViewStep::Kind::reshape:
      return step.shape == builder_.value(value).type.shape ? value : builder_.emit("reshape", {value}, attrs({{"shape", step.shape}}), name);
    case ViewStep::Kind::permute:
      return builder_.emit("transpose", {value}, attrs({{"perm", step.shape}}), name);
    case ViewStep::Kind::expand:
      return step.shape == builder_.value(value).type.shape ? value : builder_.emit("broadcast_to", {value}, attrs({{"shape", step.shape}}), name);
    case ViewStep::Kind::slice:
      break;
  }
  if (step.shape == builder_.value(value).type.shape) return value;
  if (std::find(step.shape.begin(), step.shape.end(), 0) != step.shape.end())
    return builder_.constant(name + ".empty", HostArray::make(builder_.value(value).type.dtype, step.shape));
  return builder_.emit("slice", {value}, attrs({{"starts", step.starts}, {"steps", step.steps}, {"sizes", step.shape}}), name);
}

/// `base` with what the view shows replaced by `value`.
int TorchImporter::unapply(const ViewStep& step, int base, int value, const std::string& name) {
  const Dims shape = builder_.value(base).type.shape;
  switch (step.kind) {
    case ViewStep::Kind::reshape:
      return apply({ViewStep::Kind::reshape, shape}, value, name);
    case ViewStep::Kind::permute: {
      Dims back(step.shape.size());
      for (size_t d = 0; d < back.size(); ++d) back[static_cast<size_t>(step.shape[d])] = static_cast<int64_t>(d);
      return apply({ViewStep::Kind::permute, back}, value, name);
    }
    case ViewStep::Kind::expand:
      if (step.shape == shape) return value;
      refuse(ErrorCode::unsupported, "Writing in place to a tensor that repeats its elements (expand) is not supported");
    case ViewStep::Kind::slice:
      break;
  }
  if (std::find(step.shape.begin(), step.shape.end(), 0) != step.shape.end()) return base;
  // From the last dimension on: the parts before and behind, or for steps a choice by position.
  int v = value;
  for (size_t d = shape.size(); d-- > 0;) {
    if (step.shape[d] == shape[d] && step.steps[d] == 1) continue;
    // `v` is whole behind d and cut before it.
    ViewStep outer{ViewStep::Kind::slice, shape, Dims(shape.size(), 0), Dims(shape.size(), 1)};
    for (size_t k = 0; k < d; ++k) {
      outer.shape[k] = step.shape[k];
      outer.starts[k] = step.starts[k];
      outer.steps[k] = step.steps[k];
    }
    const int around = apply(outer, base, name);
    const Dims whole = builder_.value(around).type.shape;
    if (step.steps[d] == 1) {
      const auto part = [&](int64_t from, int64_t size) {
        ViewStep p{ViewStep::Kind::slice, whole, Dims(whole.size(), 0), Dims(whole.size(), 1)};
        p.shape[d] = size;
        p.starts[d] = from;
        return apply(p, around, name);
      };
      std::vector<int> parts;
      const int64_t end = step.starts[d] + step.shape[d];
      if (step.starts[d] > 0) parts.push_back(part(0, step.starts[d]));
      parts.push_back(v);
      if (end < shape[d]) parts.push_back(part(end, shape[d] - end));
      v = builder_.emit("concat", parts, attrs({{"axis", static_cast<int64_t>(d)}}), name);
      continue;
    }
    Dims along(shape.size(), 1);
    along[d] = shape[d];
    HostArray table = HostArray::make(kInt64, {shape[d]}), chosen = HostArray::make(kBool, along);
    for (int64_t i = 0; i < step.shape[d]; ++i) {
      table.set_int(step.starts[d] + i * step.steps[d], i);
      chosen.set_int(step.starts[d] + i * step.steps[d], 1);
    }
    const int spread = builder_.emit("gather", {v, builder_.constant(name + ".places", std::move(table))}, attrs({{"axis", static_cast<int64_t>(d)}}), name);
    v = builder_.emit("where", {builder_.constant(name + ".written", std::move(chosen)), spread, around}, {}, name);
  }
  return v;
}

int TorchImporter::read(int index) {
  Reference& r = references_[static_cast<size_t>(index)];
  const Storage& s = storages_[static_cast<size_t>(r.storage)];
  if (r.version == s.version) return r.value;
  int v = s.value;
  for (const ViewStep& step : r.steps) v = apply(step, v, "view");
  r.value = v;
  r.version = s.version;
  return v;
}

void TorchImporter::write(int index, int value) {
  const Reference r = references_[static_cast<size_t>(index)];
  Storage& s = storages_[static_cast<size_t>(r.storage)];
  std::vector<int> bases{s.value};
  for (size_t k = 0; k + 1 < r.steps.size(); ++k) bases.push_back(apply(r.steps[k], bases.back(), "view"));
  int v = value;
  for (size_t k = r.steps.size(); k-- > 0;) v = unapply(r.steps[k], bases[k], v, "written");
  s.value = v;
  ++s.version;
  references_[static_cast<size_t>(index)].value = value;
  references_[static_cast<size_t>(index)].version = s.version;
}

const TorchValue* TorchImporter::find(const std::string& name) const {
  if (const auto it = names_.find(name); it != names_.end()) return &it->second;
  if (const auto it = absent_.find(name); it != absent_.end())
    refuse(ErrorCode::unsupported, fmt::format("Result '{}' is not supported", shown(name)), it->second);
  return nullptr;
}

// ---- The graph

void TorchImporter::add_inputs() {
  const Json& signature = field(program_.graph_module(), "signature", "the program");
  const Json& specs = field(signature, "input_specs", "the signature");
  std::vector<std::string> users;
  for (const Json& spec : specs) {
    const auto [kind, body] = union_of(spec, "an input's description");
    if (kind != "user_input") continue;
    const auto [type, value] = union_of(field(*body, "arg", "an input's description"), "an input");
    if (type == "as_tensor") users.push_back(text_of(field(*value, "name", "an input"), "an input"));
  }
  bind_symbols(users);
  std::set<std::string> used_constants;
  for (const Json& spec : specs) {
    const auto [kind, body] = union_of(spec, "an input's description");
    if (kind == "token") continue;
    if (kind == "parameter" || kind == "buffer" || kind == "tensor_constant") {
      const std::string name = text_of(field(field(*body, "arg", "an input's description"), "name", "an input"), "an input");
      const std::string stored = text_of(field(*body, (kind + "_name").c_str(), "an input's description"), "an input");
      names_[name] = {.tensor = reference(builder_.builder().constant(stored, program_.tensor(stored, options_.room)))};
      continue;
    }
    if (kind == "constant_input") {
      const auto [type, value] = union_of(field(*body, "value", "an input's description"), "an input");
      TorchValue v;
      if (type == "as_int") v.number = integer_of(*value, "an input");
      if (type == "as_float" && value->is_number()) v.number = value->get<double>();
      if (type == "as_bool" && value->is_boolean()) v.number = value->get<bool>();
      names_[text_of(field(*body, "name", "an input's description"), "an input")] = v;
      continue;
    }
    if (kind != "user_input") refuse(ErrorCode::unsupported, fmt::format("Inputs of kind '{}' are not supported", shown(kind)));
    const auto [type, value] = union_of(field(*body, "arg", "an input's description"), "an input");
    if (type == "as_none") continue;
    if (type != "as_tensor") {
      refuse(ErrorCode::unsupported,
             fmt::format("Expected tensors as inputs, found one of kind '{}'; export the model with a fixed value in its place", shown(type)));
    }
    const std::string name = text_of(field(*value, "name", "an input"), "an input"), where = fmt::format("input '{}'", shown(name));
    if (const auto fixed = options_.constants.find(name); fixed != options_.constants.end()) {
      used_constants.insert(name);
      names_[name] = {.tensor = reference(builder_.constant(name, fixed->second))};
      continue;
    }
    const Json* meta = meta_of(name);
    if (!meta) refuse(ErrorCode::corrupt, "Expected a description of the input, found none", where);
    const TensorMeta m = tensor_meta(*meta, where);
    graph::TensorType t{m.dtype, {}};
    __int128 count = 1;
    for (const SymbolicSize& s : m.sizes) {
      t.shape.push_back(size_now(s, where));
      count *= t.shape.back();
      if (count > torch_limits::kTensorBytes)
        refuse(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 elements, found shape {}", shape_text(t.shape)), where);
    }
    const int input = builder_.builder().input(name, t);
    names_[name] = {.tensor = reference(t.num_elements() == 0 ? builder_.constant(name + ".empty", HostArray::make(t.dtype, t.shape)) : input)};
  }
  for (const auto& [name, array] : options_.constants)
    if (!used_constants.count(name)) refuse(ErrorCode::invalid_argument, fmt::format("No input is called '{}'", shown(name)));
}

void TorchImporter::add_nodes(const Json& nodes) {
  for (const Json& node : nodes) {
    if (++node_count_ > torch_limits::kNodes) refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} nodes, found more", torch_limits::kNodes));
    add_node(node);
  }
}

void TorchImporter::add_node(const Json& node) {
  const std::string target = text_of(field(node, "target", "a node"), "a node's function"), plain = plain_name(target);
  AtenForm form = AtenForm::plain;
  const AtenOp* op = find_aten_op(plain, &form);
  if (!op) refuse(ErrorCode::unsupported, fmt::format("Function '{}' is not supported", shown(plain)));
  const size_t before = builder_.builder().graph().nodes.size();
  const Json& outputs = field(node, "outputs", "a node");
  std::string name = shown(plain.substr(plain.rfind('.') + 1));
  if (const Json* own = optional_field(node, "name")) name = text_of(*own, "a node's name");
  if (const Json* metadata = optional_field(node, "metadata")) builder_.builder().set_origin(origin_of(*metadata));
  TorchNode n(*this, node, target, name);
  TorchResults results = op->convert(n);
  const auto shown_by = [&](const TorchResult& r) {
    int v = read(r.of);
    for (const ViewStep& step : r.steps) v = apply(step, v, name);
    return v;
  };
  if (form == AtenForm::copies) {
    for (TorchResult& r : results)
      if (r.of >= 0) r = {.value = shown_by(r)};
  } else if (form == AtenForm::writes && results.at(0).of >= 0) {
    // `unsqueeze_`: the tensor itself shows what the view of it would, under all its names.
    const TorchResult& r = results[0];
    const int v = shown_by(r);
    Reference& self = references_[static_cast<size_t>(r.of)];
    self.steps.insert(self.steps.end(), r.steps.begin(), r.steps.end());
    self.value = v;
    results = {{.of = r.of, .itself = true}};
  } else if (form == AtenForm::writes) {
    const int self = n.reference(n.has("self") ? "self" : "input");
    const graph::TensorType type = n.type(read(self));
    write(self, n.broadcast(n.cast(results.at(0).value, type.dtype), type.shape));
    results = {{.of = self, .itself = true}};
  }
  bind(outputs, results, n.where());
  std::vector<int> values;
  for (const TorchResult& r : results) values.push_back(r.of >= 0 ? read(r.of) : r.value);
  log_.note(plain, before, builder_, values);
}

void TorchImporter::bind_one(const std::string& name, const TorchResult& result) {
  if (result.number) {
    names_[name] = {.number = result.number};
    return;
  }
  int index = -1;
  if (result.itself) {
    index = result.of;
    read(index);
  } else if (result.of >= 0) {
    Reference r = references_[static_cast<size_t>(result.of)];
    r.steps.insert(r.steps.end(), result.steps.begin(), result.steps.end());
    int v = read(result.of);
    for (const ViewStep& step : result.steps) v = apply(step, v, name);
    r.value = v;
    r.version = storages_[static_cast<size_t>(r.storage)].version;
    references_.push_back(std::move(r));
    index = static_cast<int>(references_.size()) - 1;
  } else {
    index = reference(result.value);
  }
  names_[name] = {.tensor = index};
  const int v = references_[static_cast<size_t>(index)].value;
  if (builder_.value(v).producer >= 0 && builder_.value(v).name.ends_with(".out") && depth_ == 0) builder_.builder().rename(v, name);
  // What the program says of the result tells whether we read it right.
  const Json* meta = meta_of(name);
  if (!meta) return;
  const TensorMeta m = tensor_meta(*meta, shown(name));
  const graph::TensorType& found = builder_.value(v).type;
  bool agrees = m.dtype == found.dtype && m.sizes.size() == found.shape.size();
  for (size_t d = 0; agrees && d < m.sizes.size(); ++d) {
    const auto size = m.sizes[d].expression.empty() ? Expected<double>(static_cast<double>(m.sizes[d].number)) : evaluate_size(m.sizes[d].expression, symbols_);
    if (size) agrees = *size == static_cast<double>(found.shape[d]);
  }
  if (agrees) return;
  std::string sizes;
  for (const SymbolicSize& s : m.sizes) sizes += (sizes.empty() ? "" : ", ") + (s.expression.empty() ? std::to_string(s.number) : shown(s.expression));
  refuse(ErrorCode::unsupported, fmt::format("Expected the result {}[{}] that the program describes, found {}", m.dtype.name(), sizes, found.text()),
         shown(name));
}

void TorchImporter::bind(const Json& outputs, const TorchResults& results, const std::string& where) {
  size_t next = 0;
  const auto take = [&](const std::string& name) {
    const bool computed = next < results.size() && (results[next].value >= 0 || results[next].of >= 0 || results[next].number);
    if (computed)
      bind_one(name, results[next]);
    else
      absent_[name] = where;  // programs name results that nothing reads
    ++next;
  };
  try {
    for (const Json& output : outputs) {
      const auto [kind, value] = union_of(output, "a result");
      if (kind == "as_none") {
        ++next;
      } else if (kind == "as_tensor") {
        const std::string name = text_of(field(*value, "name", "a result"), "a result");
        if (name.empty()) {
          ++next;  // nobody reads it
          continue;
        }
        take(name);
      } else if (kind == "as_tensors") {
        for (const Json& t : *value) take(text_of(field(t, "name", "a result"), "a result"));
      } else if (kind == "as_optional_tensors") {
        for (const Json& t : *value) {
          const auto [type, inner] = union_of(t, "a result");
          if (type == "as_tensor")
            take(text_of(field(*inner, "name", "a result"), "a result"));
          else
            ++next;
        }
      } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
        if (const Json* name = optional_field(*value, "as_name")) take(text_of(*name, "a result"));
      } else {
        ++next;
      }
    }
  } catch (Refusal& r) {
    if (r.error.where.empty() || !where.empty()) r.error.where = where;
    throw;
  }
}

std::vector<TorchResult> TorchImporter::inline_graph(const Json& graph, const std::vector<TorchValue>& inputs) {
  if (depth_ >= torch_limits::kNesting)
    refuse(ErrorCode::resource_limit, fmt::format("Expected graphs nested at most {} deep, found deeper ones", torch_limits::kNesting));
  const auto names = std::exchange(names_, {});
  const Json* tensors = std::exchange(tensors_, &field(graph, "tensor_values", "a graph"));
  ++depth_;
  const Json& formal = field(graph, "inputs", "a graph");
  if (formal.size() != inputs.size()) refuse(ErrorCode::corrupt, fmt::format("Expected {} inputs of a graph, found {}", formal.size(), inputs.size()));
  for (size_t k = 0; k < inputs.size(); ++k) {
    const auto [kind, value] = union_of(formal[k], "an input");
    const Json* name = optional_field(*value, kind == "as_tensor" ? "name" : "as_name");
    if (name) names_[text_of(*name, "an input")] = inputs[k];
  }
  add_nodes(field(graph, "nodes", "a graph"));
  std::vector<TorchResult> results;
  for (const Json& o : field(graph, "outputs", "a graph")) {
    const auto [kind, value] = union_of(o, "an output");
    const Json* name = value->is_object() ? optional_field(*value, kind == "as_tensor" ? "name" : "as_name") : nullptr;
    const TorchValue* found = name ? find(text_of(*name, "an output")) : nullptr;
    if (found && found->tensor >= 0)
      results.push_back({.of = found->tensor});
    else
      results.push_back({.number = found ? found->number : std::nullopt});
  }
  --depth_;
  tensors_ = tensors;
  names_ = names;
  return results;
}

std::vector<std::pair<std::string, int>> TorchImporter::outputs() {
  std::vector<std::pair<std::string, int>> out;
  std::set<std::string> taken;
  for (const Json& spec : field(field(program_.graph_module(), "signature", "the program"), "output_specs", "the signature")) {
    const auto [kind, body] = union_of(spec, "an output's description");
    if (kind != "user_output") continue;  // what is written back to buffers and inputs stays inside
    const auto [type, value] = union_of(field(*body, "arg", "an output's description"), "an output");
    if (type != "as_tensor") continue;
    const std::string name = text_of(field(*value, "name", "an output"), "an output");
    const TorchValue* found = find(name);
    if (!found || found->tensor < 0) refuse(ErrorCode::corrupt, fmt::format("Output '{}' is not computed by any node", shown(name)));
    std::string unique = name;
    for (int k = 1; !taken.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
    out.emplace_back(unique, read(found->tensor));
  }
  if (out.empty()) refuse(ErrorCode::parse_error, "Expected a program with outputs, found none");
  return out;
}

}  // namespace tw::frontends
