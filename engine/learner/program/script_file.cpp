// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script_file.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/frontend/error_report.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <torch/version.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/learner/program/script_values.h"

namespace tw::learner {
namespace {

using torch::jit::Node;
using torch::jit::Value;

constexpr int64_t kFloat = static_cast<int64_t>(at::kFloat), kLong = static_cast<int64_t>(at::kLong);
/// Extents that a model leaves to whoever uses it: pictures, volumes, signals, texts.
constexpr int64_t kPicture = 224, kVolume = 112, kFrames = 16, kSignal = 1024, kText = 128;
constexpr int kFollowed = 64;  ///< nodes after an input that are looked at

std::string line_of_text(const std::string& text, size_t longest) { return printable(trim(text.substr(0, text.find('\n'))).substr(0, longest)); }

/// What libtorch says of a file that it does not take, in the words of whoever wants to open it.
[[noreturn]] void refuse_file(const std::string& what) {
  constexpr std::string_view kUnknown = "Unknown builtin op: ";
  if (const size_t at = what.find(kUnknown); at != std::string::npos) {
    const std::string name = printable(what.substr(at + kUnknown.size(), what.find_first_of(".\n ", at + kUnknown.size()) - at - kUnknown.size()));
    refuse_script(ErrorCode::unsupported, fmt::format("The file calls '{}', which this libtorch ({}) does not know: export the model by torch.export.save instead", name, TORCH_VERSION));
  }
  refuse_script(ErrorCode::parse_error, fmt::format("Expected a TorchScript file that libtorch reads, found one of which it says: {}", line_of_text(what, 500)));
}

/// The value of a node that is an attribute of the module, or of a module in it, or a constant.
std::optional<c10::IValue> attribute_of(const Value* v, const torch::jit::Module& module) {
  if (v == v->owningGraph()->inputs()[0]) return c10::IValue(module._ivalue());
  if (v->node()->kind() == c10::prim::Constant) {
    const auto constant = torch::jit::toIValue(v);
    return constant ? std::optional(*constant) : std::nullopt;
  }
  if (v->node()->kind() != c10::prim::GetAttr) return std::nullopt;
  const auto object = attribute_of(v->node()->inputs()[0], module);
  if (!object || !object->isObject()) return std::nullopt;
  return object->toObject()->getAttr(v->node()->s(c10::attr::name));
}

bool looks_up(const std::string& kind) { return kind == "aten::embedding" || kind == "aten::embedding_bag"; }

/// Functions whose third argument are places in their first, in a new array or in place.
bool takes_places(std::string kind) {
  if (kind.ends_with('_')) kind.pop_back();
  static const std::set<std::string> all{"aten::index_add", "aten::index_copy", "aten::index_select", "aten::gather", "aten::scatter", "aten::scatter_add", "aten::scatter_reduce"};
  return all.contains(kind);
}

/// Which shape an input has to have for a function that takes it together with weights.
std::optional<ScriptInput> proposal_of(const Node* n, const Value* input, const torch::jit::Module& module) {
  const std::string kind = n->kind().toQualString();
  const auto tensor = [&](size_t k) -> at::Tensor {
    const auto v = k < n->inputs().size() ? attribute_of(n->inputs()[k], module) : std::nullopt;
    return v && v->isTensor() ? v->toTensor() : at::Tensor();
  };
  const auto number = [&](size_t k, int64_t otherwise) {
    const auto v = k < n->inputs().size() ? attribute_of(n->inputs()[k], module) : std::nullopt;
    return v && v->isInt() ? v->toInt() : otherwise;
  };
  const auto proposal = [&](int64_t type, std::vector<int64_t> shape, const char* reason) {
    return ScriptInput{.name = {}, .proposal = {exported_type(type), std::move(shape)}, .reason = reason};
  };
  const bool first = !n->inputs().empty() && n->inputs()[0] == input;
  if (first && (kind == "aten::conv1d" || kind == "aten::conv2d" || kind == "aten::conv3d" || kind == "aten::_convolution")) {
    const at::Tensor w = tensor(1);
    if (!w.defined() || w.dim() < 3 || w.dim() > 5) return std::nullopt;
    std::vector<int64_t> shape{1, w.size(1) * number(kind == "aten::_convolution" ? 8 : 6, 1)};
    const std::vector<int64_t> inner = w.dim() == 3 ? std::vector{kSignal} : w.dim() == 4 ? std::vector{kPicture, kPicture} : std::vector{kFrames, kVolume, kVolume};
    shape.insert(shape.end(), inner.begin(), inner.end());
    return proposal(static_cast<int64_t>(w.scalar_type()), shape, "the weights of a convolution");
  }
  if (first && (kind == "aten::linear" || kind == "aten::matmul")) {
    const at::Tensor w = tensor(1);
    if (!w.defined() || w.dim() != 2) return std::nullopt;
    return proposal(static_cast<int64_t>(w.scalar_type()), {1, w.size(kind == "aten::linear" ? 1 : 0)}, "the weights of a product");
  }
  if (looks_up(kind) && n->inputs()[1] == input) return proposal(kLong, {1, kText}, "a table of embeddings");
  if (takes_places(kind) && n->inputs().size() > 2 && n->inputs()[2] == input) return proposal(kLong, {}, "places in an array");
  return std::nullopt;
}

/// Follows an input through functions that keep its shape to the first one that says what it is; of what is given another shape, only that it is looked up in a table or says places, which holds for any.
ScriptInput guessed(const Value* input, const torch::jit::Module& module) {
  struct Followed {
    const Value* value;
    bool reshaped;
  };
  std::vector<Followed> waiting{{input, false}};
  for (size_t k = 0; k < waiting.size() && k < kFollowed; ++k) {
    const auto [value, reshaped] = waiting[k];
    for (const torch::jit::Use& use : value->uses())
      if (const std::string kind = use.user->kind().toQualString(); !reshaped || looks_up(kind) || takes_places(kind))
        if (auto found = proposal_of(use.user, value, module)) return *std::move(found);
    for (const torch::jit::Use& use : value->uses()) {
      const std::string kind = use.user->kind().toQualString();
      const bool keeps = kind == "aten::relu" || kind == "aten::to" || kind == "aten::contiguous" || kind == "aten::dropout" || kind == "aten::detach" || kind == "aten::clone" ||
                         kind == "aten::pad" || kind == "aten::div" || kind == "aten::mul" || kind == "aten::sub" || kind == "aten::add" || kind == "aten::long";
      const bool reshapes = (kind == "aten::view" || kind == "aten::reshape" || kind == "aten::select" || kind == "aten::slice" || kind == "aten::unsqueeze" || kind == "aten::expand") && use.user->inputs()[0] == value;
      if ((keeps || reshapes) && !use.user->outputs().empty()) waiting.push_back({use.user->outputs()[0], reshaped || reshapes});
    }
  }
  return {.name = {}, .proposal = {exported_type(kFloat), {}}};
}

/// Shapes of the example that newer versions of PyTorch keep with what they trace.
std::vector<at::Tensor> traced_inputs(const std::string& path) {
  constexpr const char* kRecord = "traced_inputs";
  std::vector<at::Tensor> out;
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    if (!reader.hasRecord(std::string(kRecord) + ".pkl")) return out;
    const c10::IValue all = torch::jit::readArchiveAndTensors(kRecord, "", std::string(kRecord) + "/", c10::nullopt, c10::nullopt, at::Device(at::kCPU), reader);
    const auto forward = all.toGenericDict().find("forward");
    if (forward == all.toGenericDict().end()) return out;
    for_each_tensor(forward->value(), [&](const at::Tensor& t) { out.push_back(t); });
  } catch (const std::exception&) {
    out.clear();  // it is asked for instead
  }
  return out;
}

}  // namespace

torch::jit::Module load_script(const std::string& path) {
  try {
    torch::jit::Module module = torch::jit::load(path, at::Device(at::kCPU));
    module.eval();
    if (!module.find_method("forward")) refuse_script(ErrorCode::unsupported, "Expected a module with a function 'forward', found one without");
    return module;
  } catch (const ScriptRefusal&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& e) {
    refuse_file(e.what_without_backtrace());
  } catch (const std::exception& e) {
    refuse_file(e.what());
  }
}

std::vector<ScriptInput> inputs_of(const torch::jit::Module& module, const std::string& path) {
  const torch::jit::Method forward = module.get_method("forward");
  const auto graph = forward.graph()->copy();
  torch::jit::Inline(*graph);
  const auto& declared = forward.function().getSchema().arguments();
  std::vector<ScriptInput> out;
  for (size_t k = 1; k < declared.size(); ++k) {
    const std::string name = printable(declared[k].name());
    if (declared[k].type()->isSubtypeOf(*c10::TensorType::get())) {
      out.push_back(guessed(graph->inputs().at(k), module));
      out.back().name = name;
      continue;
    }
    if (!declared[k].default_value())
      refuse_script(ErrorCode::unsupported, fmt::format("Expected tensors as inputs, found '{}' of type {}; trace the model with a fixed value in its place", name, printable(declared[k].type()->repr_str().substr(0, 200))));
  }
  if (out.empty()) refuse_script(ErrorCode::unsupported, "Expected a module that takes tensors, found one that takes none");
  const std::vector<at::Tensor> traced = traced_inputs(path);
  if (traced.size() == out.size())
    for (size_t k = 0; k < out.size(); ++k) {
      out[k].proposal = {exported_type(static_cast<int64_t>(traced[k].scalar_type())), traced[k].sizes().vec()};
      out[k].traced = true;
    }
  return out;
}

}  // namespace tw::learner
