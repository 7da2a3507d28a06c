// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "engine/base/text.h"
#include "engine/learner/messages.h"
#include "engine/learner/program/script_file.h"
#include "engine/learner/program/script_trace.h"
#include "engine/process/child_process.h"

namespace tw::learner {
namespace {

using process::kChannelFd;

constexpr __int128 kElements = __int128{1} << 36;  ///< of an input

/// Nobody is there to be told.
struct Unheard {
  Error error;
};

void tell(const Json& header, std::span<const std::byte> payload = {}) {
  if (auto sent = process::write_frame(kChannelFd, header, payload); !sent) throw Unheard{std::move(sent).error()};
}

void tell_tensor(const std::string& name, const at::Tensor& t) {
  const at::Tensor dense = t.detach().contiguous();
  const auto bytes = static_cast<size_t>(dense.numel()) * dense.element_size();
  tell({{"tensor", name}, {"type", exported_type(static_cast<int64_t>(dense.scalar_type()))}, {"shape", dense.sizes().vec()}},
       {static_cast<const std::byte*>(bytes > 0 ? dense.data_ptr() : nullptr), bytes});
}

Json shape_json(const ScriptTensor& t) { return {{"type", t.type}, {"shape", t.shape}}; }

/// A tensor of zeros as a question asks for it.
at::Tensor zeros_of(const Json& asked, const std::string& name) {
  const auto wrong = [&] { refuse_script(ErrorCode::parse_error, fmt::format("Expected the type and shape of the input '{}'", printable(name))); };
  if (!asked.is_object() || !asked.contains("type") || !asked["type"].is_number_integer() || !asked.contains("shape") || !asked["shape"].is_array()) wrong();
  const int64_t type = asked["type"].get<int64_t>() - exported_type(0);
  if (type < 0 || type >= static_cast<int64_t>(at::ScalarType::NumOptions)) refuse_script(ErrorCode::unsupported, fmt::format("Expected an element type that libtorch knows for the input '{}', found another", printable(name)));
  std::vector<int64_t> shape;
  __int128 count = 1;
  for (const Json& d : asked["shape"]) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) wrong();
    shape.push_back(d.get<int64_t>());
    count *= shape.back();
    if (count > kElements) refuse_script(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 elements of the input '{}', found shape [{}]", printable(name), fmt::join(shape, ", ")));
  }
  return at::zeros(shape, at::TensorOptions().dtype(static_cast<at::ScalarType>(type)));
}

void answer_inputs(const std::string& path) {
  Json inputs = Json::array();
  for (const ScriptInput& i : inputs_of(load_script(path), path)) {
    Json one = shape_json(i.proposal);
    one.update({{"name", i.name}, {"traced", i.traced}, {"reason", i.reason}});
    inputs.push_back(std::move(one));
  }
  tell({{"inputs", inputs}});
}

void answer_program(const std::string& path, const Json& asked) {
  const torch::jit::Module module = load_script(path);
  std::vector<std::pair<std::string, at::Tensor>> inputs;
  for (const ScriptInput& i : inputs_of(module, path)) {
    if (!asked.is_object() || !asked.contains(i.name)) refuse_script(ErrorCode::invalid_argument, fmt::format("Expected a shape of the input '{}', found none", i.name));
    inputs.emplace_back(i.name, zeros_of(asked[i.name], i.name));
  }
  auto told = std::chrono::steady_clock::now();
  const auto tick = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now - told < std::chrono::seconds(1)) return;
    told = now;
    tell({{"alive", true}});
  };
  const Json document = trace_script(module, inputs, tell_tensor, tick);
  const std::string text = dump_json(document);
  tell({{"program", true}}, std::as_bytes(std::span(text)));
}

void answer_run(const std::string& path, const Json& asked, std::span<const std::byte> bytes) {
  torch::jit::Module module = load_script(path);
  std::vector<c10::IValue> inputs;
  for (const Json& one : asked) {
    at::Tensor t = zeros_of(one, std::to_string(inputs.size()));
    const auto size = static_cast<size_t>(t.numel()) * t.element_size();
    if (size > bytes.size()) refuse_script(ErrorCode::parse_error, "Expected the bytes of all inputs, found fewer");
    if (size > 0) std::memcpy(t.data_ptr(), bytes.data(), size);
    bytes = bytes.subspan(size);
    inputs.emplace_back(std::move(t));
  }
  std::vector<at::Tensor> results;
  try {
    results = results_of(module.forward(std::move(inputs)));
  } catch (const c10::Error& e) {
    const std::string what = e.what_without_backtrace();
    if (what.find("can't allocate memory") != std::string::npos) throw std::bad_alloc();
    refuse_script(ErrorCode::invalid_argument, fmt::format("libtorch cannot run the model on these inputs: {}", printable(trim(what.substr(0, what.find('\n'))))));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    refuse_script(ErrorCode::invalid_argument, fmt::format("libtorch cannot run the model on these inputs: {}", printable(trim(std::string_view(e.what()).substr(0, 500)))));
  }
  for (const at::Tensor& t : results) tell_tensor("", t);
  tell({{"ran", true}});
}

}  // namespace

Expected<void> answer_script(const process::Frame& question) {
  TW_TRY(const std::string what, text_of(question.header, "what"));
  TW_TRY(const size_t path_bytes, count_of(question.header, "path_bytes"));
  if (path_bytes > question.payload.size()) return Error(ErrorCode::parse_error, "Expected a path of so many bytes, found fewer");
  const std::string path(reinterpret_cast<const char*>(question.payload.data()), path_bytes);
  const Json asked = question.header.value("inputs", Json());
  const at::NoGradGuard no_gradients;
  at::set_num_threads(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  try {
    if (what == "inputs") answer_inputs(path);
    else if (what == "program") answer_program(path, asked);
    else if (what == "run") answer_run(path, asked, std::span(question.payload).subspan(path_bytes));
    else return Error(ErrorCode::unsupported, fmt::format("Expected a question about a TorchScript file, found '{}'", printable(what)));
  } catch (ScriptRefusal& r) {
    return std::move(r.error);
  } catch (Unheard& u) {
    return std::move(u.error);
  }
  return {};
}

}  // namespace tw::learner
