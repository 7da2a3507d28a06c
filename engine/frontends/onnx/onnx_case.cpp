// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_case.h"

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <set>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/frontends/onnx/onnx_inputs.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

/// What the file says about the inputs, before any import.
struct Interface {
  std::vector<onnx::ValueInfoProto> inputs;
  std::vector<int64_t> outputs;  ///< element types
};

Expected<Interface> read_interface(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  onnx::ModelProto model;
  if (bytes.size() > INT32_MAX || !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error(ErrorCode::parse_error, "Expected a serialised ONNX model, found bytes that do not decode", path);
  std::set<std::string> initialised;
  for (const auto& t : model.graph().initializer()) initialised.insert(t.name());
  Interface out;
  for (const auto& v : model.graph().input()) {
    if (!v.type().has_tensor_type()) return Error(ErrorCode::unsupported, fmt::format("Input '{}' is not a tensor", printable(v.name().substr(0, 256))), path);
    if (!initialised.count(v.name())) out.inputs.push_back(v);
  }
  for (const auto& v : model.graph().output()) out.outputs.push_back(v.type().tensor_type().elem_type());
  return out;
}

Expected<HostArray> read_tensor_file(const std::string& stem) {
  const std::string path = stem + ".pb";
  if (!std::filesystem::exists(path)) return Error(ErrorCode::not_found, fmt::format("Expected the data file '{}', found none", printable(path)));
  return read_onnx_tensor(path);
}

Expected<std::vector<HostArray>> read_arrays(const std::string& folder, const char* prefix, size_t count, const ReadArray& read) {
  std::vector<HostArray> out;
  for (size_t k = 0; k < count; ++k) {
    TW_TRY(HostArray a, read(fmt::format("{}/{}_{}", folder, prefix, k)));
    out.push_back(std::move(a));
  }
  return out;
}

ImportOptions options_for(const Interface& face, const std::vector<HostArray>& data) {
  ImportOptions o;
  for (size_t k = 0; k < face.inputs.size(); ++k) {
    const auto& shape = face.inputs[k].type().tensor_type().shape();
    for (int d = 0; d < std::min(shape.dim_size(), static_cast<int>(data[k].shape.size())); ++d) {
      const auto& dim = shape.dim(d);
      if (dim.has_dim_value() && dim.dim_value() > 0) continue;
      o.dims.emplace(dynamic_name(dim, face.inputs[k].name(), d), data[k].shape[static_cast<size_t>(d)]);
    }
  }
  return o;
}

/// Which inputs are fixed at their data when a model is refused with all of them open: those that may hold shapes and axes, lists of numbers, all.
enum class Fixed { integers, lists, all };

/// Dimensions that vanish with a fixed input are not asked for any more.
ImportOptions fixed(const Interface& face, const std::vector<HostArray>& data, Fixed which) {
  ImportOptions o;
  Interface open;
  std::vector<HostArray> open_data;
  for (size_t k = 0; k < face.inputs.size(); ++k) {
    if (which == Fixed::all || (data[k].shape.size() <= 1 && (which == Fixed::lists || !data[k].dtype.is_float()))) {
      o.constants.emplace(face.inputs[k].name(), data[k]);
      continue;
    }
    open.inputs.push_back(face.inputs[k]);
    open_data.push_back(data[k]);
  }
  o.dims = options_for(open, open_data).dims;
  return o;
}

Expected<graph::Graph> import_case(const std::string& path, const Interface& face, const std::vector<HostArray>& data) {
  auto g = read_onnx(path, options_for(face, data));
  const auto first = g;
  for (const Fixed which : {Fixed::integers, Fixed::lists, Fixed::all}) {
    if (g) return g;
    const ImportOptions o = fixed(face, data, which);
    if (!o.constants.empty()) g = read_onnx(path, o);
  }
  return g ? g : first;
}

/// Some of ONNX's data files declare the bits of bfloat16 as uint16.
void restore_bfloat16(HostArray& a, const graph::TensorType& wanted) {
  if (wanted.dtype == kBFloat16 && a.dtype == kUInt16) a.dtype = kBFloat16;
}

}  // namespace

HostArray OnnxCase::plain(size_t i, const HostArray& output) const {
  const FloatFormat* format = i < formats.size() ? find_float_format(formats[i]) : nullptr;
  if (!format || output.dtype != kUInt8) return output;
  HostArray numbers = HostArray::make(kFloat32, output.shape);
  for (int64_t k = 0; k < numbers.num_elements(); ++k) numbers.set(k, format->decode(static_cast<uint32_t>(output.get_int(k))));
  return numbers;
}

Expected<OnnxCase> read_onnx_case(const std::string& folder, int data_set, const ReadArray& given) {
  const ReadArray read = given ? given : read_tensor_file;
  const std::string path = folder + "/model.onnx", data = fmt::format("{}/test_data_set_{}", folder, data_set);
  TW_TRY(const Interface face, read_interface(path));
  TW_TRY(std::vector<HostArray> inputs, read_arrays(data, "input", face.inputs.size(), read));
  OnnxCase out;
  TW_TRY(out.graph, import_case(path, face, inputs));
  TW_TRY(out.outputs, read_arrays(data, "output", face.outputs.size(), read));
  for (const int64_t type : face.outputs) {
    const auto element = element_of_onnx(type);
    out.formats.emplace_back(element && element->format ? element->format->name : "");
  }
  for (size_t k = 0; k < std::min(out.outputs.size(), out.graph.outputs.size()); ++k)
    restore_bfloat16(out.outputs[k], out.graph.values[static_cast<size_t>(out.graph.outputs[k])].type);
  const auto consumers = out.graph.consumers();
  for (const int v : out.graph.inputs) {
    const graph::Value& value = out.graph.values[static_cast<size_t>(v)];
    for (size_t k = 0; k < face.inputs.size(); ++k) {
      if (face.inputs[k].name() != value.name) continue;
      restore_bfloat16(inputs[k], value.type);
      if (consumers[static_cast<size_t>(v)].empty())
        inputs[k] = HostArray::make(value.type.dtype, value.type.shape);  // read by nobody, sometimes of another shape
      if (inputs[k].dtype != value.type.dtype || inputs[k].shape != value.type.shape)
        return Error(ErrorCode::corrupt,
                     fmt::format("Input '{}' is {}, its data are {}{}", value.name, value.type.text(), inputs[k].dtype.name(), shape_text(inputs[k].shape)),
                     data);
      out.inputs.push_back(inputs[k]);
    }
  }
  if (out.inputs.size() != out.graph.inputs.size()) return Error(ErrorCode::corrupt, "Expected data for every input of the model", data);
  return out;
}

}  // namespace tw::frontends
