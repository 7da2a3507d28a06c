// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/json.h"
#include "engine/frontends/folding_builder.h"
#include "engine/frontends/torch/zip_archive.h"

/// An exported program of PyTorch as it lies in its archive. Source: torch/_export/serde/schema.py of PyTorch 2.15, schema 8.
namespace tw::frontends {

/// Fields are read by name; what is not known is skipped. These throw Refusal: `what` names the object.
const Json& field(const Json& object, const char* name, const char* what);
const Json* optional_field(const Json& object, const char* name);  ///< null if absent or null
int64_t integer_of(const Json& j, const char* what);
std::string text_of(const Json& j, const char* what);
/// The one entry of a union that is set: its name and value.
std::pair<std::string, const Json*> union_of(const Json& j, const char* what);

/// Element types by PyTorch's number. Refuses complex and 8-bit ones.
DType dtype_of_torch(int64_t scalar_type, const std::string& where);
int64_t torch_of_dtype(DType t);

/// A size: a number, or an expression over symbols with the value that it had in the example.
struct SymbolicSize {
  int64_t number = 0;
  std::string expression = {};  ///< empty for a number
};
SymbolicSize size_of(const Json& j);

struct TensorMeta {
  DType dtype;
  std::vector<SymbolicSize> sizes, strides;
  SymbolicSize offset;
};
TensorMeta tensor_meta(const Json& j, const std::string& where);

/// A tensor from the bytes of its storage, with any strides, in memory that `room` gives. Errors: corrupt if it leaves the storage or overlaps itself, resource_limit.
Expected<HostArray> strided_tensor(const TensorMeta& meta, std::span<const std::byte> storage, const ArrayRoom& room = {});

/// The archive, its graph and its tensors.
class Program {
 public:
  /// Errors: those of ZipArchive::open; unsupported naming what was found instead (TorchScript, older archives, another schema); parse_error.
  static Expected<Program> open(const std::string& path);
  /// One that was made otherwise: a document of the same form and the tensors that it names.
  static Program of(Json document, std::map<std::string, std::shared_ptr<const HostArray>> tensors);

  const Json& graph_module() const { return document_["graph_module"]; }
  const Json* ranges() const { return optional_field(document_, "range_constraints"); }
  /// A parameter, buffer or constant by its name in the module. Tensors that share bytes and form are one array. Throws Refusal.
  std::shared_ptr<const HostArray> tensor(const std::string& name, const ArrayRoom& room = {});

 private:
  Program() = default;
  Expected<void> read(const std::string& path);

  std::optional<ZipArchive> archive_;  ///< none where all tensors were given
  std::string root_;  ///< folder that everything lies in, with a slash
  Json document_;
  struct Payload {
    std::string member;
    TensorMeta meta;
    std::string key;  ///< equal for equal tensors
  };
  std::map<std::string, Payload> payloads_;
  std::map<std::string, std::weak_ptr<const HostArray>> loaded_;
  std::map<std::string, std::shared_ptr<const HostArray>> given_;
};

}  // namespace tw::frontends
