// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/program.h"

#include <algorithm>
#include <cstring>

#include "engine/base/text.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

constexpr int64_t kSchema = 8;  ///< major version

[[noreturn]] void malformed(const std::string& expected, const char* what) { refuse(ErrorCode::parse_error, fmt::format("Expected {} in {}, found something else", expected, what)); }

struct ScalarRow {
  int64_t torch;
  DType ours;
};
constexpr ScalarRow kScalarTypes[] = {{1, kUInt8},    {2, kInt8},     {3, kInt16}, {4, kInt32},     {5, kInt64},   {6, kFloat16}, {7, kFloat32},
                              {8, kFloat64}, {12, kBool}, {13, kBFloat16}, {28, kUInt16}, {34, kUInt32}, {35, kUInt64}};
const char* unusual_type(int64_t t) { return t >= 9 && t <= 11 ? "complex numbers" : t >= 29 && t <= 33 ? "floating-point numbers of 8 bits" : "an unknown type"; }

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// What an archive is that holds no exported program as it is written today.
Error other_archive(const ZipArchive& a) {
  const auto has = [&](const char* name) {
    for (const auto& [member, m] : a.members())
      if (base_name(member) == name) return true;
    return false;
  };
  constexpr const char* kHow = "torch.export.save(torch.export.export(model.eval(), (example,)), 'model.pt2')";
  if (has("constants.pkl")) return Error(ErrorCode::unsupported, fmt::format("Expected an exported program of PyTorch, found TorchScript; {} writes one", kHow));
  if (has("serialized_exported_program.json"))
    return Error(ErrorCode::unsupported, "Exported programs of PyTorch before 2.8 are not supported: export the model again with a newer PyTorch");
  if (has("data.pkl"))
    return Error(ErrorCode::unsupported, fmt::format("A file of weights or a pickled module has no graph: export the model with PyTorch by {}", kHow));
  return Error(ErrorCode::parse_error, "Expected an exported program of PyTorch, found an archive without models/*.json");
}

}  // namespace

const Json* optional_field(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(name);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}
const Json& field(const Json& object, const char* name, const char* what) {
  const Json* f = optional_field(object, name);
  if (!f) malformed(fmt::format("'{}'", name), what);
  return *f;
}
int64_t integer_of(const Json& j, const char* what) {
  if (!j.is_number_integer()) malformed("an integer", what);
  return j.get<int64_t>();
}
std::string text_of(const Json& j, const char* what) {
  if (!j.is_string()) malformed("a text", what);
  return j.get<std::string>();
}
std::pair<std::string, const Json*> union_of(const Json& j, const char* what) {
  if (!j.is_object()) malformed("a union", what);
  for (const auto& [name, value] : j.items())
    if (!value.is_null()) return {name, &value};
  malformed("one entry that is set", what);
}

DType dtype_of_torch(int64_t scalar_type, const std::string& where) {
  for (const ScalarRow& row : kScalarTypes)
    if (row.torch == scalar_type) return row.ours;
  refuse(ErrorCode::unsupported, fmt::format("Tensors of {} (PyTorch's type {}) are not supported", unusual_type(scalar_type), scalar_type), where);
}

int64_t torch_of_dtype(DType t) {
  for (const ScalarRow& row : kScalarTypes)
    if (row.ours == t) return row.torch;
  TW_ASSERT(false, "every element type of ours has a number of PyTorch's");
  return 0;
}

SymbolicSize size_of(const Json& j) {
  const auto [kind, value] = union_of(j, "a size");
  if (kind == "as_int") return {integer_of(*value, "a size")};
  if (kind != "as_expr") malformed("a number or an expression", "a size");
  SymbolicSize s{0, text_of(field(*value, "expr_str", "a symbolic size"), "a symbolic size")};
  if (const Json* hint = optional_field(*value, "hint")) {
    const auto [hint_kind, number] = union_of(*hint, "a size's example");
    if (hint_kind == "as_int") s.number = integer_of(*number, "a size's example");
  }
  return s;
}

TensorMeta tensor_meta(const Json& j, const std::string& where) {
  TensorMeta m;
  m.dtype = dtype_of_torch(integer_of(field(j, "dtype", "a tensor's description"), "an element type"), where);
  for (const auto& [name, list] : {std::pair("sizes", &m.sizes), std::pair("strides", &m.strides)}) {
    const Json& all = field(j, name, "a tensor's description");
    if (!all.is_array()) malformed("a list", "a tensor's sizes");
    for (const Json& s : all) list->push_back(size_of(s));
    if (static_cast<int64_t>(list->size()) > torch_limits::kRank)
      refuse(ErrorCode::resource_limit, fmt::format("Expected at most {} dimensions, found {}", torch_limits::kRank, list->size()), where);
  }
  if (m.sizes.size() != m.strides.size()) refuse(ErrorCode::corrupt, fmt::format("Expected one stride a dimension, found {} for {}", m.strides.size(), m.sizes.size()), where);
  if (const Json* offset = optional_field(j, "storage_offset")) m.offset = size_of(*offset);
  if (const Json* layout = optional_field(j, "layout"); layout && integer_of(*layout, "a layout") != 7)
    refuse(ErrorCode::unsupported, "Tensors that are not dense are not supported", where);
  return m;
}

namespace {

/// Whether steps of one dimension may reach what steps of the others do. A stride of 0 repeats elements, as `expand` does, and mixes nothing up.
bool overlaps(const Dims& shape, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && strides[d] > 0) steps.emplace_back(strides[d], shape[d]);
  std::sort(steps.begin(), steps.end());
  __int128 reach = 0;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) return true;
    reach += static_cast<__int128>(size - 1) * stride;
  }
  return false;
}

}  // namespace

Expected<HostArray> strided_tensor(const TensorMeta& meta, std::span<const std::byte> storage, const ArrayRoom& room) {
  Dims shape, strides;
  __int128 count = 1, last = meta.offset.number;
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    const int64_t n = meta.sizes[d].number, stride = meta.strides[d].number;
    if (!meta.sizes[d].expression.empty() || !meta.strides[d].expression.empty() || n < 0 || stride < 0)
      return Error(ErrorCode::corrupt, "Expected sizes and strides of a stored tensor of at least 0, found others");
    shape.push_back(n);
    strides.push_back(stride);
    count *= n;
    if (n > 0) last += static_cast<__int128>(n - 1) * stride;
    if (count > torch_limits::kTensorBytes || last > torch_limits::kTensorBytes)
      return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 elements, found shape {}", shape_text(shape)));
  }
  const int64_t size = meta.dtype.bytes(), held = static_cast<int64_t>(storage.size()) / size;
  if (count > 0 && (meta.offset.number < 0 || last >= held))
    return Error(ErrorCode::corrupt, fmt::format("Expected a tensor of shape {} and strides {} inside of its {} elements, found one that leaves them",
                                                 shape_text(shape), shape_text(strides), held));
  if (count > 0 && overlaps(shape, strides))
    return Error(ErrorCode::corrupt, fmt::format("Expected strides that keep the elements of a stored tensor apart, found {} for shape {}", shape_text(strides), shape_text(shape)));
  // Elements may be shared by strides of 0, but a small file may not ask for much more than it holds.
  if (count > 0 && count > static_cast<__int128>(held) * 64 + 4096)
    return Error(ErrorCode::resource_limit, fmt::format("Expected a tensor that its {} elements fill, found shape {}", held, shape_text(shape)));
  HostArray out{meta.dtype, shape, {}};
  bool dense = true;
  int64_t expected = 1;
  for (size_t d = shape.size(); d-- > 0; expected *= shape[d]) dense = dense && (shape[d] == 1 || strides[d] == expected);
  if (dense || count == 0) {
    if (count > 0) out.data = ArrayBytes::copied(storage.subspan(static_cast<size_t>(meta.offset.number * size), static_cast<size_t>(count) * static_cast<size_t>(size)), room);
  } else {
    out = HostArray::make(meta.dtype, shape);
    Dims at(shape.size(), 0);
    int64_t from = meta.offset.number;
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      std::memcpy(out.data.data() + i * size, storage.data() + from * size, static_cast<size_t>(size));
      for (size_t d = shape.size(); d-- > 0;) {
        from += strides[d];
        if (++at[d] < shape[d]) break;
        from -= strides[d] * shape[d];
        at[d] = 0;
      }
    }
  }
  if (out.dtype.is_bool())
    for (std::byte& b : out.data) b = std::byte{b != std::byte{0}};
  return out;
}

Expected<Program> Program::open(const std::string& path) {
  TW_TRY(ZipArchive archive, ZipArchive::open(path));
  Program p;
  p.archive_ = std::move(archive);
  TW_CHECK(p.read(path));
  return p;
}

Program Program::of(Json document, std::map<std::string, std::shared_ptr<const HostArray>> tensors) {
  Program p;
  p.document_ = std::move(document);
  p.given_ = std::move(tensors);
  return p;
}

Expected<void> Program::read(const std::string& path) {
  std::string model;
  for (const auto& [name, member] : archive_->members()) {
    const size_t models = name.rfind("models/");
    if (models == std::string::npos || !name.ends_with(".json") || (models > 0 && name[models - 1] != '/')) continue;
    if (!model.empty()) return Error(ErrorCode::unsupported, "Expected one model in the archive, found several", path);
    if (member.size > torch_limits::kJsonBytes) return Error(ErrorCode::resource_limit, fmt::format("Expected a graph of at most 2^30 bytes, found {}", member.size), path);
    model = name;
    root_ = name.substr(0, models);
  }
  if (model.empty()) return other_archive(*archive_);
  if (archive_->find(root_ + "byteorder")) {
    TW_TRY(const auto order, archive_->read(root_ + "byteorder"));
    if (order.size() > 2 && static_cast<char>(order[0]) == 'b') return Error(ErrorCode::unsupported, "Expected tensors with the lowest byte first, found the highest first", path);
  }
  const auto document = [&](const std::string& name) -> Expected<Json> {
    const ZipArchive::Member* member = archive_->find(name);
    if (member && member->size > torch_limits::kJsonBytes) return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^30 bytes of JSON, found {}", member->size), path);
    TW_TRY(const auto bytes, archive_->read(name));
    return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, printable(name.substr(0, 256)));
  };
  TW_TRY(document_, document(model));
  try {
    const int64_t major = integer_of(field(field(document_, "schema_version", "the program"), "major", "the schema's version"), "the schema's version");
    if (major != kSchema) refuse(ErrorCode::unsupported, fmt::format("Expected an exported program of schema {}, found {}", kSchema, major));
    field(document_, "graph_module", "the program");
    const std::string stem = base_name(model).substr(0, base_name(model).size() - 5);
    for (const char* kind : {"weights", "constants"}) {
      const std::string folder = fmt::format("{}data/{}/", root_, kind), config = fmt::format("{}{}_{}_config.json", folder, stem, kind);
      if (!archive_->find(config)) continue;
      TW_TRY(const Json all, document(config));
      const Json& entries = field(all, "config", "a list of tensors");
      if (!entries.is_object()) malformed("an object", "a list of tensors");
      for (const auto& [name, entry] : entries.items()) {
        const std::string where = fmt::format("tensor '{}'", printable(name.substr(0, 256)));
        if (const Json* pickled = optional_field(entry, "use_pickle"); pickled && pickled->is_boolean() && pickled->get<bool>()) continue;
        const Json* meta = optional_field(entry, "tensor_meta");
        if (!meta) continue;
        const std::string member = folder + text_of(field(entry, "path_name", "a stored tensor"), "a stored tensor");
        payloads_.emplace(name, Payload{member, tensor_meta(*meta, where), member + meta->dump()});
      }
    }
  } catch (Refusal& r) {
    return std::move(r.error);
  }
  return {};
}

std::shared_ptr<const HostArray> Program::tensor(const std::string& name, const ArrayRoom& room) {
  const std::string where = fmt::format("tensor '{}'", printable(name.substr(0, 256)));
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const auto it = payloads_.find(name);
  if (it == payloads_.end()) refuse(ErrorCode::corrupt, "Expected the tensor in the archive, found none", where);
  if (auto shared = loaded_[it->second.key].lock()) return shared;
  auto bytes = archive_->read(it->second.member);
  auto array = bytes ? strided_tensor(it->second.meta, *bytes, room) : Expected<HostArray>(bytes.error());
  if (!array) refuse(array.error().code, array.error().message, where);
  auto made = std::make_shared<const HostArray>(std::move(*array));
  loaded_[it->second.key] = made;
  return made;
}

}  // namespace tw::frontends
