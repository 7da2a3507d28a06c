// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/tensor_reader.h"

#include <charconv>
#include <cstring>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/onnx/limits.h"

namespace tw::frontends {

namespace {

using onnx::TensorProto;

/// Element types newer than the messages we are built with. Source: TensorProto.DataType in onnx.proto of ONNX 1.23.
constexpr int64_t kFirstNarrow = 17;
struct NarrowRow {
  int64_t onnx;
  const char* name;
  ElementType type;
};
const std::vector<NarrowRow>& narrow_types() {
  const auto floating = [](const char* name) {
    const FloatFormat* f = find_float_format(name);
    return ElementType{kUInt8, f->bits(), f};
  };
  static const std::vector<NarrowRow> rows{
      {17, "FLOAT8E4M3FN", floating("float8e4m3fn")},
      {18, "FLOAT8E4M3FNUZ", floating("float8e4m3fnuz")},
      {19, "FLOAT8E5M2", floating("float8e5m2")},
      {20, "FLOAT8E5M2FNUZ", floating("float8e5m2fnuz")},
      {21, "UINT4", {kUInt8, 4}},
      {22, "INT4", {kInt8, 4}},
      {23, "FLOAT4E2M1", floating("float4e2m1")},
      {24, "FLOAT8E8M0", floating("float8e8m0")},
      {25, "UINT2", {kUInt8, 2}},
      {26, "INT2", {kInt8, 2}},
      {27, "FLOAT6E2M3", floating("float6e2m3")},
      {28, "FLOAT6E3M2", floating("float6e3m2")},
  };
  return rows;
}

struct TypeRow {
  int64_t onnx;
  DType ours;
};
constexpr TypeRow kTypes[] = {
    {TensorProto::FLOAT, kFloat32},     {TensorProto::UINT8, kUInt8},    {TensorProto::INT8, kInt8},     {TensorProto::UINT16, kUInt16},
    {TensorProto::INT16, kInt16},       {TensorProto::INT32, kInt32},    {TensorProto::INT64, kInt64},   {TensorProto::BOOL, kBool},
    {TensorProto::FLOAT16, kFloat16},   {TensorProto::DOUBLE, kFloat64}, {TensorProto::UINT32, kUInt32}, {TensorProto::UINT64, kUInt64},
    {TensorProto::BFLOAT16, kBFloat16},
};

std::string quoted(const TensorProto& t) { return fmt::format("tensor '{}'", printable(t.name().substr(0, 256))); }

Expected<std::vector<int64_t>> shape_of(const TensorProto& t) {
  if (t.dims_size() > onnx_limits::kRank)
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} dimensions, found {}", onnx_limits::kRank, t.dims_size()), quoted(t));
  __int128 count = 1;
  std::vector<int64_t> shape(t.dims().begin(), t.dims().end());
  for (const int64_t d : shape) {
    if (d < 0) return Error(ErrorCode::corrupt, fmt::format("Expected dimensions of at least 0, found {}", d), quoted(t));
    count *= d;
    if (count > onnx_limits::kTensorBytes)
      return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 elements, found shape {}", shape_text(shape)), quoted(t));
  }
  return shape;
}

Error wrong_amount(const TensorProto& t, int64_t expected, int64_t found, const char* unit) {
  return Error(ErrorCode::corrupt, fmt::format("Expected {} {} of data, found {}", expected, unit, found), quoted(t));
}

/// Value of an external_data entry as a number. Errors: corrupt.
Expected<int64_t> number_of(const TensorProto& t, const std::string& key, const std::string& text) {
  int64_t v = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc{} || end != text.data() + text.size() || v < 0)
    return Error(ErrorCode::corrupt, fmt::format("Expected a number of bytes in the external data's '{}', found '{}'", key, printable(text.substr(0, 64))),
                 quoted(t));
  return v;
}

Expected<ArrayBytes> read_external(const TensorProto& t, ExternalData& external, int64_t bytes) {
  std::string location;
  int64_t offset = 0, length = bytes;
  for (const auto& e : t.external_data()) {
    if (e.key() == "location") location = e.value();
    if (e.key() == "offset") {
      TW_TRY(offset, number_of(t, e.key(), e.value()));
    }
    if (e.key() == "length") {
      TW_TRY(length, number_of(t, e.key(), e.value()));
    }
  }
  if (length != bytes) return wrong_amount(t, bytes, length, "bytes");
  auto data = external.read(location, offset, length);
  if (!data) {
    Error e = data.error();
    e.where = quoted(t);
    return e;
  }
  return data;
}

/// Copies the typed field that holds elements of type T's category.
template <class Field, class Store>
Expected<void> copy_field(const TensorProto& t, const Field& field, int64_t count, const Store& store) {
  if (field.size() != count) return wrong_amount(t, count, field.size(), "elements");
  for (int64_t i = 0; i < count; ++i) store(i, field.Get(static_cast<int>(i)));
  return {};
}

Expected<void> copy_typed(const TensorProto& t, HostArray& out) {
  const int64_t n = out.num_elements();
  const DType d = out.dtype;
  if (d == kFloat32) return copy_field(t, t.float_data(), n, [&](int64_t i, float v) { std::memcpy(out.data.data() + i * 4, &v, 4); });
  if (d == kFloat64) return copy_field(t, t.double_data(), n, [&](int64_t i, double v) { std::memcpy(out.data.data() + i * 8, &v, 8); });
  if (d == kInt64) return copy_field(t, t.int64_data(), n, [&](int64_t i, int64_t v) { out.set_int(i, v); });
  if (d == kUInt64 || d == kUInt32) return copy_field(t, t.uint64_data(), n, [&](int64_t i, uint64_t v) { out.set_int(i, static_cast<int64_t>(v)); });
  if (d == kFloat16 || d == kBFloat16)
    return copy_field(t, t.int32_data(), n, [&](int64_t i, int32_t v) {
      const auto bits = static_cast<uint16_t>(v);
      std::memcpy(out.data.data() + i * 2, &bits, 2);
    });
  return copy_field(t, t.int32_data(), n, [&](int64_t i, int32_t v) { out.set_int(i, v); });
}

/// Elements of less than a byte, the first one lowest, as one byte each. Typed fields hold a byte of them in each number; numbers of 6 bits stand alone there.
Expected<HostArray> read_packed(const TensorProto& t, ExternalData& external, const ElementType& type, HostArray out) {
  const int64_t n = out.num_elements(), bytes = (n * type.bits + 7) / 8;
  std::vector<std::byte> packed;
  if (t.data_location() == TensorProto::EXTERNAL) {
    TW_TRY(const ArrayBytes stored, read_external(t, external, bytes));
    packed.assign(stored.begin(), stored.end());
  } else if (t.has_raw_data()) {
    if (static_cast<int64_t>(t.raw_data().size()) != bytes) return wrong_amount(t, bytes, static_cast<int64_t>(t.raw_data().size()), "bytes");
    const auto* raw = reinterpret_cast<const std::byte*>(t.raw_data().data());
    packed.assign(raw, raw + bytes);
  }
  const bool alone = packed.empty() && type.bits == 6;
  if (packed.empty()) {
    const int64_t numbers = alone ? n : bytes;
    if (t.int32_data_size() != numbers) return wrong_amount(t, numbers, t.int32_data_size(), "numbers");
    for (const int32_t v : t.int32_data()) packed.push_back(static_cast<std::byte>(v));
  }
  out.data.resize(static_cast<size_t>(n));
  const unsigned mask = (1u << type.bits) - 1, sign = type.storage.is_signed() ? 1u << (type.bits - 1) : 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = alone ? i * 8 : i * type.bits;
    const auto byte = static_cast<size_t>(at / 8);
    unsigned v = std::to_integer<unsigned>(packed[byte]);
    if (byte + 1 < packed.size()) v |= std::to_integer<unsigned>(packed[byte + 1]) << 8;
    v = v >> (at % 8) & mask;
    out.data[static_cast<size_t>(i)] = static_cast<std::byte>(v >= sign && sign ? v | ~mask : v);
  }
  return out;
}

}  // namespace

std::string onnx_dtype_name(int64_t data_type) {
  for (const NarrowRow& row : narrow_types())
    if (row.onnx == data_type) return row.name;
  if (TensorProto::DataType_IsValid(static_cast<int>(data_type)) && data_type == static_cast<int>(data_type))
    return TensorProto::DataType_Name(static_cast<TensorProto::DataType>(data_type));
  return fmt::format("type {}", data_type);
}

Expected<DType> dtype_of_onnx(int64_t data_type) {
  for (const TypeRow& row : kTypes)
    if (row.onnx == data_type) return row.ours;
  return Error(ErrorCode::unsupported, fmt::format("Tensors of element type {} are not supported", onnx_dtype_name(data_type)));
}

bool is_narrow(int64_t data_type) { return data_type >= kFirstNarrow; }

Expected<ElementType> element_of_onnx(int64_t data_type) {
  for (const NarrowRow& row : narrow_types())
    if (row.onnx == data_type) return row.type;
  TW_TRY(const DType plain, dtype_of_onnx(data_type));
  return ElementType{plain, plain.bits};
}

int64_t onnx_of_dtype(DType t) {
  for (const TypeRow& row : kTypes)
    if (row.ours == t) return row.onnx;
  return 0;
}

Expected<HostArray> read_tensor(const TensorProto& t, ExternalData& external) {
  auto type = element_of_onnx(t.data_type());
  if (!type) return Error(type.error().code, type.error().message, quoted(t));
  const DType dtype = type->storage;
  TW_TRY(std::vector<int64_t> shape, shape_of(t));
  if (t.has_segment()) return Error(ErrorCode::unsupported, "Tensors stored in segments are not supported", quoted(t));
  HostArray out{dtype, std::move(shape), {}};
  if (type->bits < 8) return read_packed(t, external, *type, std::move(out));
  const int64_t bytes = out.num_elements() * dtype.bytes();
  if (bytes > onnx_limits::kTensorBytes) return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 bytes, found {}", bytes), quoted(t));
  if (t.data_location() == TensorProto::EXTERNAL) {
    TW_TRY(out.data, read_external(t, external, bytes));
  } else if (t.has_raw_data()) {
    if (static_cast<int64_t>(t.raw_data().size()) != bytes) return wrong_amount(t, bytes, static_cast<int64_t>(t.raw_data().size()), "bytes");
    out.data = ArrayBytes::copied({reinterpret_cast<const std::byte*>(t.raw_data().data()), static_cast<size_t>(bytes)}, external.room());
  } else {
    // At least one byte of the file stands for each element, so that no shape alone can ask for memory.
    if (out.num_elements() > static_cast<int64_t>(t.ByteSizeLong())) return wrong_amount(t, out.num_elements(), 0, "elements");
    out.data.resize(static_cast<size_t>(bytes));
    TW_CHECK(copy_typed(t, out));
  }
  if (out.dtype.is_bool())
    for (std::byte& b : out.data) b = std::byte{b != std::byte{0}};
  return out;
}

Expected<HostArray> read_sparse_tensor(const onnx::SparseTensorProto& t, ExternalData& external) {
  TensorProto dense;
  dense.set_name(t.values().name());
  *dense.mutable_dims() = t.dims();
  TW_TRY(std::vector<int64_t> shape, shape_of(dense));
  TW_TRY(const HostArray values, read_tensor(t.values(), external));
  TW_TRY(const HostArray places, read_tensor(t.indices(), external));
  HostArray out{values.dtype, shape, {}};
  if (out.num_elements() > onnx_limits::kSparseElements)
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^28 elements of a sparse tensor, found shape {}", shape_text(shape)), quoted(dense));
  const int64_t count = values.num_elements(), rank = static_cast<int64_t>(shape.size());
  const bool by_axis = places.shape == std::vector{count, rank};
  if (values.shape != std::vector{count} || places.dtype != kInt64 || !(by_axis || places.shape == std::vector{count}))
    return Error(ErrorCode::corrupt, fmt::format("Expected a list of values and 64-bit places of them, found {} and {}", shape_text(values.shape), shape_text(places.shape)),
                 quoted(dense));
  out = HostArray::make(values.dtype, std::move(shape));
  const auto bytes = static_cast<size_t>(values.dtype.bytes());
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = by_axis ? 0 : places.get_int(i);
    bool inside = by_axis || (place >= 0 && place < out.num_elements());
    for (int64_t d = 0; by_axis && d < rank; ++d) {
      const int64_t extent = out.shape[static_cast<size_t>(d)], at = places.get_int(i * rank + d);
      inside = inside && at >= 0 && at < extent;
      place = inside ? place * extent + at : 0;
    }
    if (!inside) return Error(ErrorCode::corrupt, fmt::format("Expected places inside {}, found another for value {}", shape_text(out.shape), i), quoted(dense));
    std::memcpy(out.data.data() + static_cast<size_t>(place) * bytes, values.data.data() + static_cast<size_t>(i) * bytes, bytes);
  }
  return out;
}

Expected<HostArray> read_onnx_tensor(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  onnx::TensorProto t;
  if (static_cast<int64_t>(bytes.size()) > onnx_limits::kFileBytes || !t.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error(ErrorCode::parse_error, "Expected a serialised ONNX tensor, found bytes that do not decode", path);
  ExternalData none{std::string()};
  auto array = read_tensor(t, none);
  if (array) return array;
  Error e = array.error();
  e.where = path;
  return e;
}

}  // namespace tw::frontends
