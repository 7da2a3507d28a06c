// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/script.h"

#include <fmt/format.h>

#include <filesystem>

#include "engine/base/text.h"
#include "engine/learner/learner.h"

namespace tw::learner {
namespace {

constexpr int64_t kScriptMemory = int64_t{4} << 30;
constexpr int64_t kScriptMemoryPerByte = 8;
constexpr int64_t kScriptElements = int64_t{1} << 36;
constexpr size_t kScriptDimensions = 64;

Error bad_answer() { return Error(ErrorCode::parse_error, "Expected a TorchScript file as the learner describes one, found something else"); }

/// Type and shape of a header. Errors: parse_error.
Expected<ScriptTensor> tensor_of(const Json& j) {
  ScriptTensor t;
  if (!j.is_object() || !j.contains("type") || !j["type"].is_number_integer() || !j.contains("shape") || !j["shape"].is_array() || j["shape"].size() > kScriptDimensions) return bad_answer();
  t.type = j["type"].get<int64_t>();
  __int128 elements = 1;
  for (const Json& d : j["shape"]) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) return bad_answer();
    t.shape.push_back(d.get<int64_t>());
    elements *= t.shape.back();
    if (elements > kScriptElements) return bad_answer();
  }
  return t;
}

/// The process that reads one file.
class Reading {
 public:
  Reading(const std::string& path, const ScriptOptions& options) : path_(path), options_(options), learner_(learner_options(path, options)) {}

  Expected<void> ask(const char* what, const Json& inputs, std::span<const std::byte> bytes, const std::function<Expected<bool>(process::Frame&&)>& take) {
    std::vector<std::byte> payload(path_.size() + bytes.size());
    std::copy_n(reinterpret_cast<const std::byte*>(path_.data()), path_.size(), payload.begin());
    std::copy(bytes.begin(), bytes.end(), payload.begin() + static_cast<std::ptrdiff_t>(path_.size()));
    const auto done = learner_.ask(Json{{"op", "script"}, {"what", what}, {"path_bytes", path_.size()}, {"inputs", inputs}}, payload, options_.stop, take);
    if (done) return {};
    Error e = done.error();
    if (e.code == ErrorCode::not_found && learner_.pid() < 0)
      return Error(ErrorCode::not_found, fmt::format("TorchScript files are read by {}, which is not here", kProgram))
          .note("installers/learner builds it, with Debian's libtorch; or export the model with PyTorch by torch.export.save, which needs neither");
    if (e.code == ErrorCode::crash) e.message += " while it read the file";
    return e;
  }
  /// A tensor of a frame. Errors: parse_error.
  Expected<ScriptTensor> taken(process::Frame&& f) const {
    TW_TRY(ScriptTensor t, tensor_of(f.header));
    t.bytes = options_.room ? ArrayBytes::copied(f.payload, options_.room) : ArrayBytes(std::move(f.payload));
    return t;
  }

 private:
  static LearnerOptions learner_options(const std::string& path, const ScriptOptions& options) {
    std::error_code ignored;  // of a file that is not there: the process says so
    const auto size = std::filesystem::file_size(path, ignored);
    const int64_t bytes = ignored ? 0 : static_cast<int64_t>(size);
    return {.program = options.program, .memory_bytes = options.memory_bytes > 0 ? options.memory_bytes : kScriptMemory + kScriptMemoryPerByte * bytes, .reads_scripts = true};
  }

  const std::string& path_;
  const ScriptOptions& options_;
  Learner learner_;
};

Json shape_of(const ScriptTensor& t) { return {{"type", t.type}, {"shape", t.shape}}; }

}  // namespace

Expected<std::vector<ScriptInput>> script_inputs(const std::string& path, const ScriptOptions& options) {
  std::vector<ScriptInput> out;
  Reading reading(path, options);
  TW_CHECK(reading.ask("inputs", Json::object(), {}, [&](process::Frame&& f) -> Expected<bool> {
    if (!f.header.contains("inputs") || !f.header["inputs"].is_array()) return bad_answer();
    for (const Json& one : f.header["inputs"]) {
      ScriptInput input;
      TW_TRY(input.name, text_of(one, "name"));
      TW_TRY(input.proposal, tensor_of(one));
      TW_TRY(input.reason, text_of(one, "reason"));
      input.traced = one.contains("traced") && one["traced"] == true;
      out.push_back(std::move(input));
    }
    return true;
  }));
  return out;
}

Expected<ScriptProgram> script_program(const std::string& path, const ScriptShapes& shapes, const ScriptOptions& options) {
  ScriptProgram out;
  Json inputs = Json::object();
  for (const auto& [name, shape] : shapes) inputs[name] = shape_of(shape);
  Reading reading(path, options);
  TW_CHECK(reading.ask("program", inputs, {}, [&](process::Frame&& f) -> Expected<bool> {
    if (f.header.contains("tensor")) {
      TW_TRY(const std::string name, text_of(f.header, "tensor"));
      TW_TRY(out.tensors[name], reading.taken(std::move(f)));
      return false;
    }
    if (!f.header.contains("program")) return bad_answer();
    TW_TRY(out.document, parse_json({reinterpret_cast<const char*>(f.payload.data()), f.payload.size()}, "the learner's program"));
    return true;
  }));
  return out;
}

Expected<std::vector<ScriptTensor>> run_script(const std::string& path, std::span<const ScriptTensor> inputs, const ScriptOptions& options) {
  std::vector<ScriptTensor> out;
  Json shapes = Json::array();
  Arrays arrays;
  for (const ScriptTensor& t : inputs) {
    shapes.push_back(shape_of(t));
    arrays.add(std::span<const std::byte>(t.bytes));
  }
  Reading reading(path, options);
  TW_CHECK(reading.ask("run", shapes, arrays.bytes(), [&](process::Frame&& f) -> Expected<bool> {
    if (f.header.contains("ran")) return true;
    if (!f.header.contains("tensor")) return bad_answer();
    TW_TRY(out.emplace_back(), reading.taken(std::move(f)));
    return false;
  }));
  return out;
}

}  // namespace tw::learner
