// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/base/file.h"
#include "engine/graph/graph.h"

/// Model files to graphs, and the bundled networks.
namespace tw::frontends {

struct ImportOptions {
  std::map<std::string, int64_t> dims;         ///< values of symbolic dimensions, by name; "batch" style names default to 1 when absent
  std::map<std::string, HostArray> constants;  ///< inputs to fix at a value, by name: they become constants (shapes, axes, repeats given as inputs)
};

/// Reads an ONNX file: opsets 1 to 21, initialisers, external data below the file's own folder.
/// Errors: parse_error (not ONNX, truncated), unsupported (operator or opset by name and node), not_found and invalid_argument (external data).
Expected<graph::Graph> read_onnx(const std::string& path, const ImportOptions& options = {});
/// The same from memory; `folder` is where external data may lie (none if empty).
Expected<graph::Graph> read_onnx_bytes(std::string_view bytes, const std::string& folder, const ImportOptions& options = {});
/// Reads one tensor in a `.pb` file of an ONNX test case.
Expected<HostArray> read_onnx_tensor(const std::string& path);

struct ZooOptions {
  bool tiny = false;  ///< the same structure with small channels and images
  int64_t batch = 1;
  uint64_t seed = 1;
};
struct ZooModel {
  const char* name;
  const char* summary;
  /// Serialised ONNX model with seeded weights.
  Expected<std::string> (*build)(const ZooOptions&);
};
std::span<const ZooModel> zoo();
/// Errors: not_found listing the known names; io_error.
Expected<void> write_zoo_model(const std::string& name, const ZooOptions& options, const std::string& path);
/// Told by the producer's name.
extern const FileKind kZooFile;

}  // namespace tw::frontends
