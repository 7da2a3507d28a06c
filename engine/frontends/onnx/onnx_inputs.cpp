// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_inputs.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

bool names_a_batch(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.empty() || name == "n" || name == "b" || name == "bs" || name == "none" || name == "?" || name == "-1" || name.starts_with("unk") ||
         name.find("batch") != std::string::npos;
}

constexpr int64_t kImageSize = 224;

/// Whether an axis is a height or width of images: pixels of up to four numbers stand before or behind both.
bool is_of_images(const onnx::TensorShapeProto& shape, int axis) {
  const auto are_pixels = [&](int at) { return shape.dim(at).has_dim_value() && shape.dim(at).dim_value() >= 1 && shape.dim(at).dim_value() <= 4; };
  return shape.dim_size() == 4 && ((axis >= 2 && are_pixels(1)) || ((axis == 1 || axis == 2) && are_pixels(3)));
}

constexpr int64_t kSecondOfSound = 16000;  ///< at the rate that networks of speech most often take

/// What networks most often have for a dimension of such a name, the last one of an input of three at most or not; a proposal that a person sees and may change.
int64_t common_size(std::string name, std::string input, bool last_of_few) {
  const auto lower = [](std::string& text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  };
  lower(name);
  lower(input);
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const auto of = [&](const char* part) { return input.find(part) != std::string::npos; };
  if (has("past")) return 1;
  if (has("frame") || name == "time") return 100;
  if (last_of_few && (has("sample") || of("wave") || of("audio") || of("speech"))) return kSecondOfSound;
  if (has("seq") || has("len") || has("token")) return 128;
  if (has("height") || has("width") || name == "h" || name == "w") return kImageSize;
  if (has("channel") || name == "c") return 3;
  return 1;
}

Expected<int64_t> extent(const onnx::TensorShapeProto::Dimension& d, const std::string& input, int axis, const ImportOptions& options,
                         std::set<std::string>& used) {
  if (d.has_dim_value() && d.dim_value() < -1)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected an extent, or -1 for a dynamic one, as axis {} of input '{}', found {}", axis,
                                                          printable(input.substr(0, 256)), d.dim_value()));
  if (d.has_dim_value() && d.dim_value() > 0) return d.dim_value();
  const std::string name = dynamic_name(d, input, axis);
  if (const auto it = options.dims.find(name); it != options.dims.end()) {
    used.insert(name);
    if (it->second < 0)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a dimension '{}' of at least 0, found {}", printable(name), it->second));
    return it->second;
  }
  return 1;  // a batch: all other sizes are known to be given
}

/// What exporters write where they mean no name at all; axes that share it have nothing in common.
bool is_no_name(const std::string& name) { return name.empty() || name == "?" || name == "-1" || name == "None"; }

}  // namespace

std::string dynamic_name(const onnx::TensorShapeProto::Dimension& d, const std::string& input, int axis) {
  return d.has_dim_param() && !is_no_name(d.dim_param()) ? d.dim_param() : fmt::format("{}.{}", input, axis);
}

Expected<void> check_sizes(const onnx::GraphProto& graph, const ImportOptions& options) {
  constexpr size_t kNamed = 8;
  std::vector<std::string> missing, examples;
  for (const OpenSize& s : open_sizes_of(graph)) {
    const bool is_asked_for =
        std::any_of(s.places.begin(), s.places.end(), [&](const std::string& place) { return !options.constants.count(place.substr(0, place.rfind('.'))); });
    if (!s.required || !is_asked_for || options.dims.count(s.name)) continue;
    const std::string name = printable(s.name.substr(0, 256));
    const bool says_where = s.places.front() != s.name;
    missing.push_back(says_where ? fmt::format("'{}' ({})", name, printable(s.places.front().substr(0, 256))) : fmt::format("'{}'", name));
    examples.push_back(fmt::format("--dim {}={}", name, s.proposal));
  }
  if (missing.empty()) return {};
  const size_t shown = std::min(missing.size(), kNamed);
  const std::string rest = missing.size() > shown ? fmt::format(" and {} more", missing.size() - shown) : "";
  missing.resize(shown);
  examples.resize(shown);
  return Error(ErrorCode::invalid_argument, fmt::format("Dynamic dimensions of the inputs have no size: {}{}; give them, such as {}", fmt::join(missing, ", "),
                                                        rest, fmt::join(examples, " ")));
}

bool is_one_integer(const onnx::ValueInfoProto& v) {
  if (!v.type().has_tensor_type() || !v.type().tensor_type().has_shape()) return false;
  const auto element = element_of_onnx(v.type().tensor_type().elem_type());
  if (!element || element->is_narrow() || !element->storage.is_int()) return false;
  const auto& dims = v.type().tensor_type().shape().dim();
  return std::all_of(dims.begin(), dims.end(), [](const auto& d) { return d.has_dim_value() && d.dim_value() == 1; });
}

std::vector<OpenSize> open_sizes_of(const onnx::GraphProto& graph) {
  std::set<std::string> fixed;
  for (const onnx::TensorProto& t : graph.initializer()) fixed.insert(t.name());
  std::vector<OpenSize> out;
  for (const onnx::ValueInfoProto& v : graph.input()) {
    if (fixed.count(v.name()) || !v.type().has_tensor_type()) continue;
    const auto& shape = v.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const auto& d = shape.dim(axis);
      if (d.has_dim_value() && (d.dim_value() > 0 || d.dim_value() < -1)) continue;  // known, or no extent at all
      const std::string name = dynamic_name(d, v.name(), axis), place = fmt::format("{}.{}", v.name(), axis);
      const auto known = std::find_if(out.begin(), out.end(), [&](const OpenSize& s) { return s.name == name; });
      const bool batch = axis == 0 && names_a_batch(d.dim_param());
      if (known == out.end()) {
        out.push_back({.name = name,
                       .places = {place},
                       .proposal = batch                       ? 1
                                   : is_of_images(shape, axis) ? kImageSize
                                                               : common_size(name, v.name(), shape.dim_size() <= 3 && axis + 1 == shape.dim_size()),
                       .required = !batch});
      } else {
        known->places.push_back(place);
        known->required = known->required || !batch;
      }
    }
  }
  for (const onnx::ValueInfoProto& v : graph.input())
    if (!fixed.count(v.name()) && is_one_integer(v)) out.push_back({.name = v.name(), .places = {v.name()}, .least = 0, .is_input = true});
  return out;
}

Expected<graph::TensorType> input_type(const onnx::ValueInfoProto& v, const ImportOptions& options, std::set<std::string>& used) {
  const std::string where = fmt::format("input '{}'", printable(v.name().substr(0, 256)));
  if (!v.type().has_tensor_type()) return Error(ErrorCode::unsupported, "Expected a tensor as input of the model, found another kind of value", where);
  const onnx::TypeProto::Tensor& t = v.type().tensor_type();
  auto element = element_of_onnx(t.elem_type());
  if (!element) return Error(element.error().code, element.error().message, where);
  const auto given = options.shapes.find(v.name());
  if (!t.has_shape() && given == options.shapes.end())
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected an input with a shape, found one of unknown rank; give it, such as --input-shape {}=1,3,224,224", printable(v.name().substr(0, 256))), where);
  if (t.has_shape() && given != options.shapes.end())
    return Error(ErrorCode::invalid_argument, "Expected --input-shape of an input that the file leaves open altogether, found one that has a shape; --dim gives open sizes", where);
  if (given != options.shapes.end() && given->second.type.value_or(element->storage) != element->storage)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected {}, as the file has it, found {}", element->storage.name(), given->second.type->name()), where);
  const size_t rank = t.has_shape() ? static_cast<size_t>(t.shape().dim_size()) : given->second.shape.size();
  if (rank > static_cast<size_t>(onnx_limits::kRank))
    return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} dimensions, found {}", onnx_limits::kRank, rank), where);
  graph::TensorType out{element->storage, t.has_shape() ? std::vector<int64_t>() : given->second.shape};
  for (int axis = 0; axis < t.shape().dim_size(); ++axis) {
    TW_TRY(const int64_t n, extent(t.shape().dim(axis), v.name(), axis, options, used));
    out.shape.push_back(n);
  }
  __int128 count = 1;
  for (const int64_t n : out.shape) {
    count *= n;
    if (count > onnx_limits::kTensorBytes)
      return Error(ErrorCode::resource_limit, fmt::format("Expected at most 2^36 elements, found shape {}", shape_text(out.shape)), where);
  }
  return out;
}

}  // namespace tw::frontends
