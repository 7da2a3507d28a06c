// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <new>

#include "engine/frontends/onnx/importer.h"
#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_inputs.h"
#include "engine/frontends/prune.h"

namespace tw::frontends {

namespace {

Error not_a_model(const std::string& found) { return Error(ErrorCode::parse_error, "Expected a serialised ONNX model, found " + found); }

Expected<void> check_model(const onnx::ModelProto& m) {
  if (!m.has_graph() || m.ir_version() < 1) return not_a_model("a file without a graph and format version");
  if (m.ir_version() < 3) return Error(ErrorCode::unsupported, fmt::format("Expected ONNX format version 3 or newer, found {}", m.ir_version()));
  if (m.graph().node_size() == 0 && m.graph().output_size() == 0) return not_a_model("an empty graph");
  return {};
}

Error undecodable(uintmax_t size) { return not_a_model(fmt::format("{} bytes that do not decode (another format, or cut off)", size)); }

Expected<graph::Graph> import_model(onnx::ModelProto& model, const std::string& folder, const ImportOptions& options) {
  TW_CHECK(check_model(model));
  ExternalData external(folder, options.on_external_file, options.room);
  try {
    Importer importer(model, options, external);
    graph::Graph graph = importer.run();
    if (options.reading) *options.reading = importer.log().rows();
    return prune(std::move(graph));
  } catch (Refusal& refusal) {
    return std::move(refusal.error);
  } catch (const std::bad_alloc&) {  // a small file may declare tensors of any size
    return Error(ErrorCode::resource_limit, "Expected a model whose constants fit in memory, found larger ones");
  }
}

}  // namespace

Expected<graph::Graph> read_onnx_bytes(std::string_view bytes, const std::string& folder, const ImportOptions& options) {
  if (static_cast<int64_t>(bytes.size()) > onnx_limits::kFileBytes)
    return Error(ErrorCode::resource_limit,
                 fmt::format("Expected a model file below 2 GiB, found {} bytes (larger models keep their weights in external data)", bytes.size()));
  if (bytes.empty()) return not_a_model("no bytes");
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return undecodable(bytes.size());
  return import_model(model, folder, options);
}

namespace {

/// The messages of a file. Errors: those of read_onnx for the file itself.
Expected<onnx::ModelProto> decoded_file(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) return Error(ErrorCode::not_found, fmt::format("Expected a model file at '{}', found none", printable(path)));
  if (!std::filesystem::is_regular_file(path, ec))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a model file at '{}', found something else", printable(path)));
  const auto size = std::filesystem::file_size(path, ec);
  if (ec || size > static_cast<uintmax_t>(onnx_limits::kFileBytes))
    return Error(ErrorCode::resource_limit, "Expected a model file below 2 GiB (larger models keep their weights in external data)", path);
  if (size == 0) return Error(ErrorCode::parse_error, "Expected a serialised ONNX model, found no bytes", path);
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  const bool decoded = file && model.ParseFromIstream(&file);  // in pieces: the file is never in memory beside the model
  if (!file.eof() && !file) return Error(ErrorCode::io_error, fmt::format("Reading '{}' failed", printable(path)));
  if (!decoded) return undecodable(size);
  return model;
}

Error placed(Error e, const std::string& path) {
  e.where = e.where.empty() ? path : fmt::format("{}, {}", path, e.where);
  return e;
}

}  // namespace

Expected<graph::Graph> read_onnx(const std::string& path, const ImportOptions& options) {
  auto model = decoded_file(path);
  if (!model) return model.error().where.empty() ? placed(model.error(), path) : model.error();
  std::error_code ec;
  const std::string folder = std::filesystem::absolute(path, ec).parent_path().string();
  auto graph = import_model(*model, folder, options);
  if (!graph) return placed(std::move(graph).error(), path);
  return graph;
}

Expected<std::vector<OpenSize>> open_sizes_of_onnx(const std::string& path) {
  auto model = decoded_file(path);
  if (!model) return model.error().where.empty() ? placed(model.error(), path) : model.error();
  if (const auto ok = check_model(*model); !ok) return placed(ok.error(), path);
  return open_sizes_of(model->graph());
}

}  // namespace tw::frontends
