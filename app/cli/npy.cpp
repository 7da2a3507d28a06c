// SPDX-License-Identifier: Apache-2.0
#include "app/cli/npy.h"

#include <charconv>
#include <cstring>

#include "app/cli/common.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxElements = int64_t{1} << 34;

struct TypeName {
  const char* text;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"|b1", kBool},   {"|i1", kInt8},   {"<i2", kInt16},  {"<i4", kInt32},   {"<i8", kInt64},   {"|u1", kUInt8},
                               {"<u2", kUInt16}, {"<u4", kUInt32}, {"<u8", kUInt64}, {"<f2", kFloat16}, {"<f4", kFloat32}, {"<f8", kFloat64}};

struct Header {
  DType dtype;
  bool fortran = false;
  std::vector<int64_t> shape;
};

Error wrong(const std::string& what, const std::string& where) {
  return Error(ErrorCode::parse_error, fmt::format("Expected {} in the .npy file", what), where);
}

/// The text after `'key':` in the header's dictionary, without leading spaces; empty if the key is missing.
std::string_view after_key(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  return at == std::string_view::npos ? std::string_view{} : trim(header.substr(at + key.size() + 3));
}

Expected<Header> parse_header(std::string_view text, const std::string& where) {
  Header h;
  const std::string_view descr = after_key(text, "descr");
  const size_t quote = descr.size() > 1 ? descr.find('\'', 1) : std::string_view::npos;
  if (quote == std::string_view::npos || descr[0] != '\'') return wrong("'descr' to be a type name", where);
  const std::string name(descr.substr(1, quote - 1));
  bool known = false;
  for (const TypeName& t : kTypes) {
    const bool same = name == t.text || (t.text[0] == '|' && name.size() == 3 && name.substr(1) == t.text + 1);
    if (same) h.dtype = t.dtype, known = true;
  }
  if (!known) return wrong(fmt::format("a little-endian number type, found '{}',", printable(name)), where);
  h.fortran = after_key(text, "fortran_order").starts_with("True");
  std::string_view shape = after_key(text, "shape");
  if (!shape.starts_with("(") || shape.find(')') == std::string_view::npos) return wrong("'shape' to be a tuple", where);
  shape = shape.substr(1, shape.find(')') - 1);
  int64_t elements = 1;
  while (!trim(shape).empty()) {
    const std::string_view item = trim(shape.substr(0, shape.find(',')));
    int64_t n = -1;
    const auto end = std::from_chars(item.data(), item.data() + item.size(), n);
    if (end.ptr != item.data() + item.size() || n < 0 || (n > 0 && elements > kMaxElements / n)) return wrong("'shape' to hold sane sizes", where);
    elements *= n;
    h.shape.push_back(n);
    shape = shape.find(',') == std::string_view::npos ? std::string_view{} : shape.substr(shape.find(',') + 1);
  }
  return h;
}

/// Copies from the column-major order of the file into row-major.
void reorder_fortran(const char* from, HostArray& to) {
  const size_t bytes = static_cast<size_t>(to.dtype.bytes());
  const size_t rank = to.shape.size();
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0, n = to.num_elements(); i < n; ++i) {
    int64_t at = 0;
    for (size_t d = rank; d-- > 0;) at = at * to.shape[d] + index[d];
    std::memcpy(to.data.data() + static_cast<size_t>(i) * bytes, from + static_cast<size_t>(at) * bytes, bytes);
    for (size_t d = rank; d-- > 0 && ++index[d] == to.shape[d];) index[d] = 0;
  }
}

}  // namespace

Expected<HostArray> npy_from_bytes(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) return Error(ErrorCode::parse_error, "Expected a NumPy array file (.npy), found other bytes", where);
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) return wrong(fmt::format("format version 1 to 3, found {},", version), where);
  const size_t prefix = version == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = prefix; i-- > 8;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() - prefix < length) return wrong(fmt::format("a header of {} bytes, found {}", length, bytes.size() - prefix), where);
  TW_TRY(const Header h, parse_header(bytes.substr(prefix, length), where));
  const std::string_view data = bytes.substr(prefix + length);
  int64_t elements = 1;
  for (int64_t n : h.shape) elements *= n;
  const size_t want = static_cast<size_t>(elements) * static_cast<size_t>(h.dtype.bytes());
  if (data.size() != want) return wrong(fmt::format("{} bytes of data for {} {}, found {}", want, h.dtype.name(), shape_text(h.shape), data.size()), where);
  HostArray array = HostArray::make(h.dtype, h.shape);
  if (h.fortran) {
    reorder_fortran(data.data(), array);
  } else {
    std::memcpy(array.data.data(), data.data(), want);
  }
  return array;
}

std::string npy_to_bytes(const HostArray& array) {
  if (array.dtype == kBFloat16) {
    HostArray wide = HostArray::make(kFloat32, array.shape);
    for (int64_t i = 0, n = array.num_elements(); i < n; ++i) wide.set(i, array.get(i));
    return npy_to_bytes(wide);
  }
  const char* type = nullptr;
  for (const TypeName& t : kTypes)
    if (t.dtype == array.dtype) type = t.text;
  TW_ASSERT(type != nullptr, "every scalar type has a NumPy name");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type, fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += std::string_view("\x01\x00", 2);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  return out;
}

Expected<HostArray> read_npy(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  return npy_from_bytes(bytes, path);
}

Expected<void> write_npy(const HostArray& array, const std::string& path) {
  static const FileKind kArrayFile{"an array", [](std::string_view beginning) { return beginning.starts_with("\x93NUMPY"); }};
  return write_file(path, kArrayFile, npy_to_bytes(array));
}

}  // namespace tw::cli
