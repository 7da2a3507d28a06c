// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script_trace.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/text.h"
#include "engine/learner/program/script_construct.h"
#include "engine/learner/program/script_shapes.h"

namespace tw::learner {
namespace {

using c10::IValue;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace attr = c10::attr;
namespace prim = c10::prim;

constexpr int64_t kCalls = 1'000'000;    ///< of the program
constexpr int64_t kSteps = 10'000'000;   ///< of the interpreter, those that only compute numbers too
constexpr int kDepth = 64;               ///< of calls that are not inlined: through interfaces, and recursive ones
constexpr int64_t kSnapshot = 1 << 16;   ///< elements of what depends on no input that is kept as numbers rather than computed again

/// What looks at a tensor's form and not at its elements.
constexpr std::array kOfForm = {"aten::size", "aten::dim", "aten::len", "aten::numel", "aten::stride",  "aten::storage_offset", "aten::element_size", "aten::get_device", "aten::__is__", "aten::__isnot__",
                                "aten::sym_size", "aten::__contains__", "aten::keys", "aten::result_type", "aten::_shape_as_tensor", "prim::dtype", "prim::device", "prim::layout", "prim::requires_grad", "prim::shape", "prim::isinstance"};
/// Tensors of numbers, which are kept however many they are.
constexpr std::array kOfNumbers = {"aten::tensor", "aten::as_tensor", "aten::scalar_tensor", "prim::NumToTensor"};
/// The same tensor under another name.
constexpr std::array kRenamed = {"prim::data", "aten::detach", "aten::alias", "aten::requires_grad_"};

template <size_t kCount>
bool is_one_of(const std::array<const char*, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool looks_at_form(std::string_view kind) {
  return is_one_of(kOfForm, kind) || kind.starts_with("prim::is_") || (kind.starts_with("aten::is_") && kind != "aten::is_nonzero");
}

/// Where a node stands in the model's code.
std::string line_of(const Node* n) {
  const auto place = n->sourceRange().file_line_col();
  return place ? fmt::format("{}:{}", std::get<0>(*place), std::get<1>(*place)) : std::string();
}
/// Calls and modules around a node, from the outermost.
Json metadata_of(const Node* n) {
  std::string path;
  if (const auto stack = n->callstack()) {
    for (const auto& [function, range, module] : (*stack)->vec()) {
      if (!module || module->instance_name().empty() || module->instance_name() == "SELF") continue;
      path += (path.empty() ? "" : ".") + module->instance_name();
    }
  }
  Json m = Json::object();
  if (!path.empty()) m["nn_module_stack"] = fmt::format("self,{},", path);
  if (const auto place = n->sourceRange().file_line_col()) m["stack_trace"] = fmt::format("File \"{}\", line {}, in forward", std::get<0>(*place), std::get<1>(*place));
  return m;
}

/// The first line of what libtorch says, without its address in libtorch.
std::string said(const std::string& what) { return printable(trim(what.substr(0, what.find('\n'))).substr(0, 500)); }

const c10::StorageImpl* storage_of(const at::Tensor& t) { return t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr; }

class Tracer {
 public:
  Tracer(const torch::jit::Module& module, const TakeTensor& take, const std::function<void()>& tick) : module_(module), take_(take), tick_(tick) {
    paths_[module._ivalue().get()] = "";
  }

  Json run(const std::vector<std::pair<std::string, at::Tensor>>& inputs) {
    const torch::jit::Method forward = module_.get_method("forward");
    std::map<std::string, at::Tensor> given(inputs.begin(), inputs.end());
    std::vector<Known> arguments{{module_._ivalue()}};
    const auto& declared = forward.function().getSchema().arguments();
    for (size_t k = 1; k < declared.size(); ++k) {
      const auto it = given.find(declared[k].name());
      if (it == given.end()) {
        arguments.push_back({declared[k].default_value() ? *declared[k].default_value() : IValue()});
        continue;
      }
      const std::string name = unique(it->first);
      bind(it->second, name);
      at_run_time_.insert(storage_of(it->second));
      specs_.push_back({{"user_input", {{"arg", named_tensor(name)}}}});
      arguments.push_back({it->second});
    }
    const std::vector<Known> results = call(forward.function(), std::move(arguments));
    return document(results.at(0).value);
  }

 private:
  /// A value while the program is gone through. `at_run_time`: a number that the inputs' values decide; what it is here means nothing then.
  struct Known {
    IValue value;
    bool at_run_time = false;
  };
  using Frame = std::unordered_map<const Value*, Known>;

  [[noreturn]] static void unsupported(const Node* n, const std::string& why) { refuse_script(ErrorCode::unsupported, why, line_of(n)); }

  // ---- Names

  std::string unique(const std::string& wanted) {
    std::string name = wanted.empty() ? "value" : wanted;
    for (int k = 1; !names_.insert(name).second; ++k) name = fmt::format("{}_{}", wanted, k);
    return name;
  }
  void bind(const at::Tensor& t, const std::string& name) {
    bound_[t.unsafeGetTensorImpl()] = name;
    described_[name] = tensor_json(t);
  }
  const std::string* bound(const at::Tensor& t) const {
    const auto it = bound_.find(t.unsafeGetTensorImpl());
    return it == bound_.end() ? nullptr : &it->second;
  }
  /// A tensor that the program begins with.
  std::string begin_with(const at::Tensor& t, const std::string& stored) {
    const std::string name = unique("p_" + stored);
    if (t.layout() != at::kStrided || t.is_quantized()) refuse_script(ErrorCode::unsupported, fmt::format("The tensor '{}' is sparse or quantised, which is not supported", stored));
    take_(stored, t);
    bind(t, name);
    specs_.push_back({{"parameter", {{"arg", {{"name", name}}}, {"parameter_name", stored}}}});
    return name;
  }
  std::string name_of(const at::Tensor& t) {
    if (const std::string* name = bound(t)) return *name;
    return begin_with(t, unique_stored("constant"));
  }

  // ---- What the inputs' values decide

  bool is_at_run_time(const at::Tensor& t) const { return at_run_time_.count(storage_of(t)) != 0; }
  bool any_at_run_time(const IValue& v) const {
    bool any = false;
    for_each_tensor(v, [&](const at::Tensor& t) { any = any || is_at_run_time(t); });
    return any;
  }

  // ---- Blocks

  /// Tracing stores the 2 of x / 2 as a tensor without dimensions of 64 bits, which would decide the type of the quotient of integers. Before libtorch runs a
  /// graph it makes numbers of such constants in these four operations (its pass CanonicalizeOps, whose header is not installed).
  static void numbers_for_scalars(Block* block) {
    for (Node* n : block->nodes()) {
      for (Block* inner : n->blocks()) numbers_for_scalars(inner);
      if (!n->matches("aten::add(Tensor self, Tensor other, *, Scalar alpha) -> Tensor") && !n->matches("aten::sub(Tensor self, Tensor other, *, Scalar alpha) -> Tensor") &&
          !n->matches("aten::mul(Tensor self, Tensor other) -> Tensor") && !n->matches("aten::div(Tensor self, Tensor other) -> Tensor"))
        continue;
      const auto other = torch::jit::toIValue(n->inputs()[1]);
      if (!other || !other->isTensor() || !other->toTensor().defined() || other->toTensor().dim() != 0) continue;
      const torch::jit::WithInsertPoint here(n);
      n->replaceInput(1, n->owningGraph()->insertConstant(other->toTensor().item()));
    }
  }

  std::vector<Known> call(torch::jit::Function& function, std::vector<Known> arguments) {
    function.ensure_defined();
    torch::jit::GraphFunction* code = torch::jit::tryToGraphFunction(function);
    if (code == nullptr) refuse_script(ErrorCode::unsupported, fmt::format("'{}' is no function of TorchScript's, which is not supported", printable(function.qualname().qualifiedName())));
    if (++depth_ > kDepth) refuse_script(ErrorCode::resource_limit, fmt::format("Expected calls nested at most {} deep, found deeper ones", kDepth));
    std::shared_ptr<Graph>& graph = graphs_[code];
    if (!graph) {
      graph = code->graph()->copy();
      torch::jit::Inline(*graph);
      numbers_for_scalars(graph->block());
    }
    Frame frame;
    for (size_t k = 0; k < graph->inputs().size(); ++k) frame[graph->inputs()[k]] = std::move(arguments.at(k));
    arguments.clear();
    std::vector<Known> results = run_block(graph->block(), frame);
    --depth_;
    return results;
  }

  std::vector<Known> run_block(const Block* block, Frame& frame) {
    const auto& dying = last_uses(block);
    for (const Node* n : block->nodes()) {
      if (++steps_ > kSteps) refuse_script(ErrorCode::resource_limit, fmt::format("Expected at most {} steps of the program, found more", kSteps), line_of(n));
      tick_();
      step(const_cast<Node*>(n), frame);
      if (const auto it = dying.find(n); it != dying.end())
        for (const Value* v : it->second) frame.erase(v);
    }
    std::vector<Known> out;
    for (const Value* v : block->outputs()) out.push_back(get(v, frame));
    return out;
  }

  /// Values of a block that nothing reads after a node: a network's intermediate results must not pile up.
  const std::unordered_map<const Node*, std::vector<const Value*>>& last_uses(const Block* block) {
    const auto [it, fresh] = dying_.try_emplace(block);
    if (!fresh) return it->second;
    const auto consider = [&](const Value* v) {
      const Node* last = nullptr;
      for (const torch::jit::Use& use : v->uses()) {
        const Node* n = use.user;
        while (n->owningBlock() != block) n = n->owningBlock()->owningNode();
        if (n == block->return_node()) return;
        if (last == nullptr || n->isAfter(last)) last = n;
      }
      if (last != nullptr) it->second[last].push_back(v);
    };
    for (const Value* v : block->inputs()) consider(v);
    for (const Node* n : block->nodes())
      for (const Value* v : n->outputs()) consider(v);
    return it->second;
  }

  static const Known& get(const Value* v, const Frame& frame) {
    const auto it = frame.find(v);
    if (it == frame.end()) refuse_script(ErrorCode::corrupt, fmt::format("The value '{}' is read before it is there", printable(v->debugName())), line_of(v->node()));
    return it->second;
  }
  static void set(Node* n, Frame& frame, std::vector<Known> values) {
    for (size_t k = 0; k < n->outputs().size(); ++k) frame[n->outputs()[k]] = std::move(values.at(k));
  }
  /// One that is no number of the inputs' values, which lists, tuples and tensors cannot hold here.
  const IValue& known(const Node* n, size_t k, const Frame& frame) const {
    const Known& v = get(n->inputs()[k], frame);
    if (v.at_run_time)
      unsupported(n, fmt::format("'{}' takes a number that is computed from the inputs' values, which is not supported", n->kind().toQualString()));
    return v.value;
  }

  // ---- Nodes

  void step(Node* n, Frame& frame) {
    switch (n->kind()) {
      case prim::Constant:
        return constant(n, frame);
      case prim::GetAttr:
        return get_attribute(n, frame);
      case prim::SetAttr:
        return known(n, 0, frame).toObject()->setAttr(n->s(attr::name), known(n, 1, frame));
      case prim::If: {
        const std::vector<Known> taken = run_block(n->blocks()[condition(n, 0, frame) ? 0 : 1], frame);
        return set(n, frame, taken);
      }
      case prim::Loop:
        return loop(n, frame);
      case prim::CallFunction:
      case prim::CallMethod:
        return call_of(n, frame);
      case prim::RaiseException: {
        const IValue& why = known(n, 0, frame);
        refuse_script(ErrorCode::invalid_argument, fmt::format("The model does not take inputs of these shapes: {}", why.isString() ? said(why.toStringRef()) : "it raises an exception"), line_of(n));
      }
      case prim::Print:
      case prim::Enter:
      case prim::Exit:
        return set(n, frame, std::vector<Known>(n->outputs().size()));
      default:
        return construct_value(n, frame) ? void() : operation(n, frame);
    }
  }

  void constant(Node* n, Frame& frame) {
    IValue v = n->output()->type()->cast<c10::FunctionType>() ? IValue() : torch::jit::toIValue(n->output()).value_or(IValue());
    if (v.isDevice()) v = at::Device(at::kCPU);  // wherever it was traced
    frame[n->output()] = {std::move(v)};
  }

  void get_attribute(Node* n, Frame& frame) {
    const auto object = known(n, 0, frame).toObject();
    IValue v = object->getAttr(n->s(attr::name));
    const std::string& base = paths_[object.get()];
    const std::string path = base.empty() ? n->s(attr::name) : base + "." + n->s(attr::name);
    if (v.isObject()) paths_.try_emplace(v.toObject().get(), path);
    if (v.isTensor() && v.toTensor().defined() && !bound(v.toTensor())) begin_with(v.toTensor(), unique_stored(path));
    frame[n->output()] = {std::move(v)};
  }
  std::string unique_stored(const std::string& path) {
    std::string name = path;
    for (int k = 1; !stored_.insert(name).second; ++k) name = fmt::format("{}_{}", path, k);
    return name;
  }

  bool condition(const Node* n, size_t k, const Frame& frame) const {
    const Known& c = get(n->inputs()[k], frame);
    if (c.at_run_time)
      unsupported(n, n->kind() == prim::If ? "A branch ('prim::If') whose condition the inputs' values decide is not supported" : "A loop ('prim::Loop') whose end the inputs' values decide is not supported");
    return c.value.toBool();
  }

  void loop(Node* n, Frame& frame) {
    const Known& most = get(n->inputs()[0], frame);
    if (most.at_run_time) unsupported(n, "A loop ('prim::Loop') whose number of turns the inputs' values decide is not supported");
    const int64_t turns = most.value.toInt();
    bool goes_on = condition(n, 1, frame);
    std::vector<Known> carried;
    for (size_t k = 2; k < n->inputs().size(); ++k) carried.push_back(get(n->inputs()[k], frame));
    const Block* body = n->blocks()[0];
    for (int64_t i = 0; i < turns && goes_on; ++i) {
      frame[body->inputs()[0]] = {i};
      for (size_t k = 0; k < carried.size(); ++k) frame[body->inputs()[k + 1]] = std::move(carried[k]);
      std::vector<Known> out = run_block(body, frame);
      if (out[0].at_run_time) unsupported(n, "A loop ('prim::Loop') whose end the inputs' values decide is not supported");
      goes_on = out[0].value.toBool();
      carried.assign(std::make_move_iterator(out.begin() + 1), std::make_move_iterator(out.end()));
    }
    set(n, frame, std::move(carried));
  }

  /// What inlining leaves: calls through interfaces, and of what calls itself.
  void call_of(Node* n, Frame& frame) {
    std::vector<Known> arguments;
    torch::jit::Function* function = nullptr;
    if (n->kind() == prim::CallMethod) {
      function = &known(n, 0, frame).toObject()->type()->getMethod(n->s(attr::name));
      arguments.push_back(get(n->inputs()[0], frame));
    } else {
      function = n->inputs()[0]->type()->expectRef<c10::FunctionType>().function();
    }
    for (size_t k = 1; k < n->inputs().size(); ++k) arguments.push_back(get(n->inputs()[k], frame));
    set(n, frame, call(*function, std::move(arguments)));
  }

  /// What puts values together and takes them apart. Returns whether the node is such a one.
  bool construct_value(Node* n, Frame& frame) {
    const std::string kind = n->kind().toQualString();
    if (!is_constructor(kind)) return false;
    std::vector<IValue> values;
    for (size_t k = 0; k < n->inputs().size(); ++k) values.push_back(known(n, k, frame));
    std::vector<IValue> out = construct(n, kind, values);
    std::vector<Known> all;
    for (IValue& v : out) all.push_back({std::move(v)});
    set(n, frame, std::move(all));
    return true;
  }

  void operation(Node* n, Frame& frame) {
    const std::string kind = n->kind().toQualString();
    if (n->maybeOperator() == nullptr) unsupported(n, fmt::format("'{}' is not supported", printable(kind)));
    const c10::FunctionSchema& schema = n->schema();
    const bool of_form = looks_at_form(kind);
    std::vector<IValue> inputs;
    bool number_at_run_time = false, tensor_at_run_time = false;
    for (const Value* v : n->inputs()) {
      const Known& k = get(v, frame);
      number_at_run_time = number_at_run_time || k.at_run_time;
      tensor_at_run_time = tensor_at_run_time || any_at_run_time(k.value);
      inputs.push_back(k.value);
    }
    // Where gradients are on, PyTorch's own modules take the way that is written in functions of tensors, rather than kernels of all of a module.
    if (kind == "aten::is_grad_enabled" || kind == "prim::requires_grad") return set(n, frame, {{IValue(true)}});
    if (kind == "aten::set_grad_enabled" || kind == "aten::warn") return set(n, frame, std::vector<Known>(n->outputs().size()));
    const bool writes = std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& a) {
      return a.alias_info() != nullptr && a.alias_info()->isWrite() && a.type()->isSubtypeOf(*c10::TensorType::get());
    });
    Json call;
    const bool is_function = kind.starts_with("aten::") || !kind.starts_with("prim::");
    const auto describe = [&] {
      for (size_t k = 0; k < inputs.size(); ++k) known(n, k, frame);
      call = called(n, schema, inputs);
    };
    if (writes) describe();  // before what is written changes
    const bool random = n->isNondeterministic();
    std::vector<IValue> outputs = run(n, kind, schema, inputs, tensor_at_run_time);

    bool any_tensor = false, all_there = true, shares = false;
    int64_t elements = 0;
    std::unordered_set<const c10::TensorImpl*> before;
    std::unordered_set<const c10::StorageImpl*> storages;
    for (const IValue& v : inputs)
      for_each_tensor(v, [&](const at::Tensor& t) {
        before.insert(t.unsafeGetTensorImpl());
        storages.insert(storage_of(t));
      });
    for (const IValue& v : outputs)
      for_each_tensor(v, [&](const at::Tensor& t) {
        any_tensor = true;
        all_there = all_there && before.count(t.unsafeGetTensorImpl()) != 0;
        shares = shares || storages.count(storage_of(t)) != 0;
        elements += t.numel();
      });
    const bool decided = random || (tensor_at_run_time && !of_form);
    if (!any_tensor && !writes) return set(n, frame, numbers(n, std::move(outputs), (number_at_run_time && !of_form) || decided));
    if (number_at_run_time) unsupported(n, fmt::format("'{}' takes a number that is computed from the inputs' values, which is not supported", kind));
    if (writes) {
      for (size_t k = 0; k < schema.arguments().size() && k < inputs.size(); ++k) {
        const c10::AliasInfo* alias = schema.arguments()[k].alias_info();
        if (decided && alias != nullptr && alias->isWrite()) for_each_tensor(inputs[k], [&](const at::Tensor& t) { at_run_time_.insert(storage_of(t)); });
      }
    } else if (all_there) {
      return set(n, frame, plain(std::move(outputs)));  // the same tensors out of a list, or what hands on what it gets
    } else if (is_one_of(kRenamed, kind) && outputs.size() == 1 && outputs[0].isTensor()) {
      bind(outputs[0].toTensor(), name_of(inputs[0].toTensor()));
      return set(n, frame, plain(std::move(outputs)));
    } else {
      for (const IValue& v : outputs)
        for_each_tensor(v, [&](const at::Tensor& t) {
          if (storages.count(storage_of(t)) == 0) decided ? void(at_run_time_.insert(storage_of(t))) : void(at_run_time_.erase(storage_of(t)));
          if (before.count(t.unsafeGetTensorImpl()) == 0) bound_.erase(t.unsafeGetTensorImpl());  // what had this address is gone
        });
      const bool unwritten = kind.starts_with("aten::empty") || kind.starts_with("aten::new_empty");
      if (!decided && !unwritten && !shares && (elements <= kSnapshot || is_one_of(kOfNumbers, kind) || of_form)) return set(n, frame, plain(std::move(outputs)));
    }
    if (!is_function) unsupported(n, fmt::format("'{}' is not supported", printable(kind)));
    if (!writes) describe();
    add_call(n, std::move(call), outputs);
    set(n, frame, plain(std::move(outputs)));
  }

  static std::vector<Known> plain(std::vector<IValue> values) {
    std::vector<Known> out;
    for (IValue& v : values) out.push_back({std::move(v)});
    return out;
  }
  /// Numbers and texts; lists of what is decided at run time are nobody's.
  std::vector<Known> numbers(const Node* n, std::vector<IValue> values, bool decided) const {
    std::vector<Known> out;
    for (IValue& v : values) {
      if (decided && !(v.isInt() || v.isDouble() || v.isBool() || v.isNone()))
        unsupported(n, fmt::format("'{}' makes a list or text of numbers that are computed from the inputs' values, which is not supported", n->kind().toQualString()));
      out.push_back({std::move(v), decided});
    }
    return out;
  }

  std::vector<IValue> run(Node* n, const std::string& kind, const c10::FunctionSchema& schema, const std::vector<IValue>& inputs, bool at_run_time) const {
    torch::jit::Stack stack(inputs.begin(), inputs.end());
    if (at_run_time) shorten_sums(kind, stack);
    if (schema.is_vararg()) stack.emplace_back(static_cast<int64_t>(inputs.size()));
    try {
      n->getOperation()(stack);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const c10::Error& e) {
      const std::string what = e.what_without_backtrace();
      if (what.find("can't allocate memory") != std::string::npos) throw std::bad_alloc();
      refuse_script(ErrorCode::invalid_argument, fmt::format("libtorch cannot call '{}' for inputs of these shapes: {}", kind, said(what)), line_of(n));
    } catch (const std::exception& e) {
      refuse_script(ErrorCode::invalid_argument, fmt::format("libtorch cannot call '{}' for inputs of these shapes: {}", kind, said(e.what())), line_of(n));
    }
    return {std::make_move_iterator(stack.end() - static_cast<std::ptrdiff_t>(n->outputs().size())), std::make_move_iterator(stack.end())};
  }

  // ---- The program

  /// `aten::add` with the overload `Tensor` is torch.ops.aten.add.Tensor.
  Json called(Node* n, const c10::FunctionSchema& schema, const std::vector<IValue>& inputs) {
    if (static_cast<int64_t>(calls_.size()) >= kCalls) refuse_script(ErrorCode::resource_limit, fmt::format("Expected at most {} calls, found more", kCalls), line_of(n));
    const std::string full = schema.name();
    const size_t colons = full.find("::");
    Json arguments = Json::array();
    const NameOf name = [this](const at::Tensor& t) { return name_of(t); };
    for (size_t k = 0; k < inputs.size() && k < schema.arguments().size(); ++k)
      arguments.push_back({{"name", schema.arguments()[k].name()}, {"arg", argument_json(inputs[k], schema.arguments()[k], name)}, {"kind", 1}});
    return {{"target", fmt::format("torch.ops.{}.{}.{}", full.substr(0, colons), full.substr(colons + 2), schema.overload_name().empty() ? "default" : schema.overload_name())},
            {"name", unique(full.substr(colons + 2))},
            {"inputs", std::move(arguments)},
            {"metadata", metadata_of(n)}};
  }
  void add_call(const Node*, Json call, const std::vector<IValue>& outputs) {
    const std::string base = call["name"].get<std::string>();
    bool first = true;
    const auto result = [&](const at::Tensor& t) -> std::string {
      if (!t.defined()) return "";
      const std::string name = first ? base : unique(base);
      first = false;
      bind(t, name);
      return name;
    };
    Json results = Json::array();
    for (const IValue& v : outputs) {
      if (v.isTensor()) {
        results.push_back(named_tensor(result(v.toTensor())));
      } else if (v.isTensorList()) {
        Json all = Json::array();
        for (const at::Tensor& t : v.toTensorVector()) all.push_back({{"name", result(t)}});
        results.push_back({{"as_tensors", std::move(all)}});
      } else {
        results.push_back({{"as_none", true}});
      }
    }
    call["outputs"] = std::move(results);
    calls_.push_back(std::move(call));
  }

  Json document(const IValue& result) {
    Json outputs = Json::array(), tensors = Json::object();
    for (const at::Tensor& t : results_of(result)) outputs.push_back({{"user_output", {{"arg", named_tensor(name_of(t))}}}});
    for (auto& [name, described] : described_) tensors[name] = std::move(described);
    return {{"graph_module",
             {{"graph", {{"inputs", Json::array()}, {"outputs", Json::array()}, {"nodes", std::move(calls_)}, {"tensor_values", std::move(tensors)}}},
              {"signature", {{"input_specs", std::move(specs_)}, {"output_specs", std::move(outputs)}}}}}};
  }

  const torch::jit::Module& module_;
  const TakeTensor& take_;
  const std::function<void()>& tick_;
  std::unordered_map<const c10::ivalue::Object*, std::string> paths_;  ///< of modules
  std::unordered_map<const torch::jit::GraphFunction*, std::shared_ptr<Graph>> graphs_;
  std::unordered_map<const Block*, std::unordered_map<const Node*, std::vector<const Value*>>> dying_;
  std::unordered_map<const c10::TensorImpl*, std::string> bound_;  ///< what the program calls tensors that are alive
  std::unordered_set<const c10::StorageImpl*> at_run_time_;        ///< what the inputs' values decide
  std::set<std::string> names_, stored_;
  std::map<std::string, Json> described_;
  Json specs_ = Json::array(), calls_ = Json::array();
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

std::vector<at::Tensor> results_of(const IValue& v) {
  std::vector<at::Tensor> out;
  for_each_tensor(v, [&](const at::Tensor& t) { out.push_back(t); });
  return out;
}

Json trace_script(const torch::jit::Module& module, const std::vector<std::pair<std::string, at::Tensor>>& inputs, const TakeTensor& take, const std::function<void()>& tick) {
  return Tracer(module, take, tick).run(inputs);
}

}  // namespace tw::learner
