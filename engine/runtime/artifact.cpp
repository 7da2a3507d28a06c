// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/artifact.h"

#include <algorithm>
#include <cstring>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/base/winograd.h"

namespace tw::runtime {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 48;

/// A physical dimension as seen from the row-major array.
struct Dim {
  int dim;             ///< logical dimension
  int64_t extent;      ///< physical
  int64_t unit;        ///< how far one step moves in the logical dimension
  int64_t row_stride;  ///< how far one step moves in the row-major array, in elements
};

struct Plan {
  std::vector<Dim> dims;       ///< outermost first
  std::vector<int64_t> shape;  ///< logical
  std::vector<int64_t> inner;  ///< elements in one step of each physical dimension
};

Plan make_plan(const ArgSpec& spec) {
  Plan plan;
  plan.shape = spec.shape;
  std::vector<int64_t> stride(spec.shape.size(), 1);
  for (int d = static_cast<int>(spec.shape.size()) - 2; d >= 0; --d) stride[d] = stride[d + 1] * spec.shape[d + 1];
  const std::vector<int64_t> extents = spec.physical_shape();
  plan.dims.resize(extents.size());
  plan.inner.assign(extents.size(), 1);
  std::vector<int64_t> unit(spec.shape.size(), 1);
  int64_t inner = 1;
  for (int p = static_cast<int>(extents.size()) - 1; p >= 0; --p) {
    const int d = spec.layout[p].dim;
    plan.dims[p] = {d, extents[p], unit[d], unit[d] * stride[d]};
    plan.inner[p] = inner;
    unit[d] *= extents[p];
    inner *= extents[p];
  }
  return plan;
}

/// Walks the packed array in order; `row` follows in the row-major one. Parts outside the logical shape are zeroed (packing) or skipped.
template <class T, bool kPack>
class Copier {
 public:
  Copier(const Plan& plan, T* packed, T* row) : plan_(plan), row_(row), packed_(packed), index_(plan.shape.size(), 0) {}
  void run() { level(0, 0); }

 private:
  void level(size_t p, int64_t offset) {
    const Dim& dim = plan_.dims[p];
    int64_t& at = index_[dim.dim];
    const int64_t room = plan_.shape[dim.dim] - at;
    const int64_t valid = std::clamp<int64_t>((room + dim.unit - 1) / dim.unit, 0, dim.extent);
    if (p + 1 == plan_.dims.size()) {
      innermost(row_ + offset, dim.row_stride, valid, dim.extent);
      return;
    }
    const int64_t saved = at;
    for (int64_t i = 0; i < valid; ++i, at += dim.unit) level(p + 1, offset + i * dim.row_stride);
    at = saved;
    skip((dim.extent - valid) * plan_.inner[p]);
  }

  void innermost(T* row, int64_t stride, int64_t valid, int64_t extent) {
    if constexpr (kPack) {
      if (stride == 1) {
        std::memcpy(packed_, row, static_cast<size_t>(valid) * sizeof(T));
      } else {
        for (int64_t i = 0; i < valid; ++i) packed_[i] = row[i * stride];
      }
    } else {
      if (stride == 1) {
        std::memcpy(row, packed_, static_cast<size_t>(valid) * sizeof(T));
      } else {
        for (int64_t i = 0; i < valid; ++i) row[i * stride] = packed_[i];
      }
    }
    packed_ += valid;
    skip(extent - valid);
  }

  void skip(int64_t n) {
    if (kPack && n > 0) std::memset(packed_, 0, static_cast<size_t>(n) * sizeof(T));
    packed_ += n;
  }

  const Plan& plan_;
  T* row_;
  T* packed_;
  std::vector<int64_t> index_;
};

/// The spec of the array as it is stored, as if that were row-major at first: transformed dimensions have the extents of their transforms.
ArgSpec transformed(ArgSpec spec) {
  for (LayoutPiece& p : spec.layout) {
    if (p.winograd) spec.shape[p.dim] += p.winograd - 1;
    p.winograd = 0;
  }
  return spec;
}

bool transforms(const ArgSpec& spec) {
  return std::any_of(spec.layout.begin(), spec.layout.end(), [](const LayoutPiece& p) { return p.winograd != 0; });
}

/// `matrix` applied along dimension `d` of a row-major array, whose extent there changes.
std::vector<double> apply_along(const std::vector<double>& in, std::vector<int64_t>& shape, size_t d, const Winograd::Matrix& matrix) {
  size_t inner = 1;
  for (size_t k = d + 1; k < shape.size(); ++k) inner *= static_cast<size_t>(shape[k]);
  const auto from = static_cast<size_t>(shape[d]);
  const size_t to = matrix.size(), outer = in.size() / (from * inner);
  std::vector<double> out(outer * to * inner, 0);
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < to; ++i)
      for (size_t k = 0; k < from; ++k)
        for (size_t j = 0; j < inner; ++j) out[(o * to + i) * inner + j] += matrix[i][k] * in[(o * from + k) * inner + j];
  shape[d] = static_cast<int64_t>(to);
  return out;
}

/// The array with its taps transformed, row-major.
std::vector<float> transform(const ArgSpec& spec, const float* row) {
  std::vector<std::pair<size_t, Winograd::Matrix>> steps;
  size_t first = spec.shape.size();
  for (const LayoutPiece& p : spec.layout) {
    if (!p.winograd) continue;
    steps.emplace_back(p.dim, winograd(p.winograd, spec.shape[p.dim]).g);
    first = std::min(first, static_cast<size_t>(p.dim));
  }
  const std::vector<int64_t> inner(spec.shape.begin() + static_cast<std::ptrdiff_t>(first), spec.shape.end());
  size_t block = 1;
  for (const int64_t e : inner) block *= static_cast<size_t>(e);
  std::vector<float> out;
  out.reserve(static_cast<size_t>(transformed(spec).num_elements()));
  for (size_t at = 0; at < static_cast<size_t>(spec.num_elements()); at += block) {
    std::vector<double> values(row + at, row + at + block);
    std::vector<int64_t> shape = inner;
    for (const auto& [d, matrix] : steps) values = apply_along(values, shape, d - first, matrix);
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

template <bool kPack>
void convert(const ArgSpec& spec, std::byte* packed, std::byte* row) {
  if (spec.physical_bytes() == 0) return;
  if (transforms(spec)) {
    TW_ASSERT(kPack, "transformed constants are never taken back");
    std::vector<float> row_major = transform(spec, reinterpret_cast<const float*>(row));
    return convert<kPack>(transformed(spec), packed, reinterpret_cast<std::byte*>(row_major.data()));
  }
  if (spec.layout.empty()) {
    std::memcpy(kPack ? packed : row, kPack ? row : packed, static_cast<size_t>(spec.physical_bytes()));
    return;
  }
  const Plan plan = make_plan(spec);
  auto as = [&]<class T>(T) { Copier<T, kPack>(plan, reinterpret_cast<T*>(packed), reinterpret_cast<T*>(row)).run(); };
  switch (spec.dtype.bytes()) {
    case 1:
      return as(uint8_t{});
    case 2:
      return as(uint16_t{});
    case 4:
      return as(uint32_t{});
    case 8:
      return as(uint64_t{});
    default:
      TW_UNREACHABLE("element size");
  }
}

Expected<int64_t> whole_number(const Json& json, const char* what) {
  if (!json.is_number_integer()) return Error(ErrorCode::parse_error, fmt::format("Expected an whole_number as {}, found {}", what, dump_json(json)));
  return json.get<int64_t>();
}

Expected<void> check_sizes(const ArgSpec& spec) {
  __int128 n = 1;
  for (const int64_t e : spec.shape) {
    if (e < 0) return Error(ErrorCode::parse_error, fmt::format("Argument \"{}\" has the negative extent {}", spec.name, e));
  }
  for (const int64_t e : spec.physical_shape()) {
    n *= e;
    if (n > kMaxElements)
      return Error(ErrorCode::parse_error, fmt::format("Argument \"{}\" of shape {} is larger than any memory", spec.name, shape_text(spec.shape)));
  }
  return {};
}

}  // namespace

Expected<void> check_layout(const ArgSpec& spec) {
  if (spec.layout.empty()) return {};
  std::vector<int> outermost(spec.shape.size(), 0), seen(spec.shape.size(), 0);
  std::vector<__int128> product(spec.shape.size(), 1);
  for (const LayoutPiece& piece : spec.layout) {
    const auto fail = [&](const std::string& why) { return Error(ErrorCode::invalid_argument, fmt::format("Layout of argument \"{}\" {}", spec.name, why)); };
    if (piece.dim < 0 || piece.dim >= static_cast<int>(spec.shape.size())) return fail(fmt::format("names dimension {} of {}", piece.dim, spec.shape.size()));
    if (piece.factor < 0) return fail(fmt::format("has the negative factor {}", piece.factor));
    if (piece.winograd != 0) {
      if (piece.factor != 0 || !spec.constant || spec.dtype != kFloat32 || !winograd_exists(piece.winograd, spec.shape[piece.dim]))
        return fail(fmt::format("has no transform F({}, {}) of dimension {}", piece.winograd, spec.shape[piece.dim], piece.dim));
    }
    if (piece.factor == 0 && seen[piece.dim] != 0) return fail(fmt::format("has the open piece of dimension {} inside another", piece.dim));
    ++seen[piece.dim];
    if (piece.factor == 0) ++outermost[piece.dim];
    if (piece.factor > 0 && (product[piece.dim] *= piece.factor) > kMaxElements) return fail(fmt::format("has too large factors of dimension {}", piece.dim));
  }
  for (size_t d = 0; d < spec.shape.size(); ++d) {
    if (outermost[d] == 1) continue;
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Layout of argument \"{}\" has {} open pieces of dimension {}, expected one", spec.name, outermost[d], d));
  }
  return {};
}

std::vector<int64_t> ArgSpec::physical_shape() const {
  if (layout.empty()) return shape;
  std::vector<int64_t> factors(shape.size(), 1);
  for (const LayoutPiece& piece : layout) {
    if (piece.factor > 0) factors[piece.dim] *= piece.factor;
  }
  std::vector<int64_t> out;
  out.reserve(layout.size());
  for (const LayoutPiece& piece : layout) {
    const int64_t extent = shape[piece.dim] + (piece.winograd ? piece.winograd - 1 : 0);
    out.push_back(piece.factor > 0 ? piece.factor : (extent + factors[piece.dim] - 1) / factors[piece.dim]);
  }
  return out;
}

int64_t ArgSpec::physical_bytes() const {
  int64_t n = dtype.bytes();
  for (const int64_t e : physical_shape()) n *= e;
  return n;
}

int64_t ArgSpec::num_elements() const {
  int64_t n = 1;
  for (const int64_t e : shape) n *= e;
  return n;
}

void pack_layout(const ArgSpec& spec, const std::byte* row_major, std::byte* packed) {
  convert<true>(spec, packed, const_cast<std::byte*>(row_major));  // only read
}

void unpack_layout(const ArgSpec& spec, const std::byte* packed, std::byte* row_major) {
  convert<false>(spec, const_cast<std::byte*>(packed), row_major);  // only read
}

Json to_json(const ArgSpec& spec) {
  Json layout = Json::array();
  for (const LayoutPiece& piece : spec.layout) {
    layout.push_back(Json::array({piece.dim, piece.factor}));
    if (piece.winograd) layout.back().push_back(piece.winograd);
  }
  return Json{{"name", spec.name}, {"dtype", spec.dtype.name()}, {"shape", spec.shape},
              {"layout", layout},  {"constant", spec.constant},  {"output", spec.output}};
}

Expected<ArgSpec> arg_spec_from_json(const Json& json) {
  const auto fail = [&](const char* what) {
    return Error(ErrorCode::parse_error, fmt::format("Expected an argument with {}, found {}", what, dump_json(json)));
  };
  if (!json.is_object()) return fail("a name, dtype, shape and layout");
  for (const char* key : {"name", "dtype", "shape", "layout", "constant", "output"}) {
    if (!json.contains(key)) return fail(key);
  }
  if (!json["name"].is_string() || !json["dtype"].is_string()) return fail("a name and a dtype as text");
  if (!json["shape"].is_array() || !json["layout"].is_array()) return fail("a shape and a layout as lists");
  if (!json["constant"].is_boolean() || !json["output"].is_boolean()) return fail("constant and output as true or false");
  ArgSpec spec;
  spec.name = json["name"].get<std::string>();
  TW_TRY(spec.dtype, parse_dtype(json["dtype"].get<std::string>()));
  if (!spec.dtype.is_scalar()) return fail("a scalar dtype");
  for (const Json& e : json["shape"]) {
    TW_TRY(const int64_t extent, whole_number(e, "an extent"));
    spec.shape.push_back(extent);
  }
  for (const Json& p : json["layout"]) {
    if (!p.is_array() || p.size() < 2 || p.size() > 3) return fail("layout pieces [dim, factor] or [dim, factor, winograd]");
    TW_TRY(const int64_t dim, whole_number(p[0], "a layout dimension"));
    TW_TRY(const int64_t factor, whole_number(p[1], "a layout factor"));
    if (dim < 0 || dim >= static_cast<int64_t>(spec.shape.size())) return fail("layout dimensions inside the shape");
    TW_TRY(const int64_t winograd, p.size() == 3 ? whole_number(p[2], "the size of a transform") : Expected<int64_t>(0));
    spec.layout.push_back({static_cast<int>(dim), factor, winograd});
  }
  spec.constant = json["constant"].get<bool>();
  spec.output = json["output"].get<bool>();
  TW_CHECK(check_layout(spec));
  TW_CHECK(check_sizes(spec));
  return spec;
}

Json to_json(const KernelSignature& signature) {
  Json args = Json::array();
  for (const ArgSpec& spec : signature.args) args.push_back(to_json(spec));
  return Json{{"name", signature.name}, {"args", args}};
}

Expected<KernelSignature> signature_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() || !json.contains("args") || !json["args"].is_array()) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a kernel signature with a name and a list of args, found {}", dump_json(json)));
  }
  KernelSignature signature;
  signature.name = json["name"].get<std::string>();
  for (const Json& arg : json["args"]) {
    TW_TRY(ArgSpec spec, arg_spec_from_json(arg));
    signature.args.push_back(std::move(spec));
  }
  return signature;
}

}  // namespace tw::runtime
