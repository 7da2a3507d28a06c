// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <map>
#include <utility>

#include "engine/base/assert.h"

namespace tw::frontends {

namespace {

void set_tensor_type(onnx::ValueInfoProto* info, const std::string& name, const std::vector<int64_t>& shape, int type = onnx::TensorProto_DataType_FLOAT) {
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  for (const int64_t d : shape) tensor->mutable_shape()->add_dim()->set_dim_value(d);
}

/// The head of a field that holds so many bytes. Source: the encoding of protocol buffers, wire type LEN.
std::string field_head(int number, int64_t bytes) {
  std::string head(1, static_cast<char>((number << 3) | 2));
  auto rest = static_cast<uint64_t>(bytes);
  for (; rest > 0x7f; rest >>= 7) head += static_cast<char>((rest & 0x7f) | 0x80);
  return head + static_cast<char>(rest);
}

}  // namespace

struct OnnxBuilder::Impl {
  onnx::ModelProto model;
  std::map<int, OnnxModel::Normal> drawn;  ///< what the initializers hold that have no data, by their places
  bool has_relu6_bounds = false;

  onnx::TensorProto* tensor(const std::string& name, const std::vector<int64_t>& shape, int type) {
    onnx::TensorProto* t = model.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(type);
    for (const int64_t d : shape) t->add_dims(d);
    return t;
  }
};

OnnxBuilder::OnnxBuilder(const std::string& name, uint64_t seed, int64_t opset_version) : impl_(std::make_unique<Impl>()), rng_(seed) {
  impl_->model.set_ir_version(opset_version >= 15 ? 8 : 7);
  impl_->model.set_producer_name("tilewright");
  auto* opset = impl_->model.add_opset_import();
  opset->set_domain("");
  opset->set_version(opset_version);
  impl_->model.mutable_graph()->set_name(name);
}

OnnxBuilder::~OnnxBuilder() = default;

std::string OnnxBuilder::input(const std::string& name, const Shape& shape) {
  set_tensor_type(impl_->model.mutable_graph()->add_input(), name, shape);
  return name;
}

std::string OnnxBuilder::integer_input(const std::string& name, const Shape& shape) {
  set_tensor_type(impl_->model.mutable_graph()->add_input(), name, shape, onnx::TensorProto_DataType_INT64);
  return name;
}

void OnnxBuilder::output(const std::string& value, const Shape& shape) { set_tensor_type(impl_->model.mutable_graph()->add_output(), value, shape); }

std::string OnnxBuilder::initializer(const std::string& name, const Shape& shape, const std::vector<float>& data) {
  int64_t elements = 1;
  for (const int64_t d : shape) elements *= d;
  TW_ASSERT(elements == static_cast<int64_t>(data.size()), "elements of initializer " + name);
  impl_->tensor(name, shape, onnx::TensorProto_DataType_FLOAT)->set_raw_data(data.data(), data.size() * sizeof(float));
  return name;
}

std::string OnnxBuilder::shape_constant(const std::string& name, const Shape& shape) {
  onnx::TensorProto* tensor = impl_->tensor(name, {static_cast<int64_t>(shape.size())}, onnx::TensorProto_DataType_INT64);
  for (const int64_t d : shape) tensor->add_int64_data(d);
  return name;
}

std::string OnnxBuilder::boolean_constant(const std::string& name, const Shape& shape, const std::vector<bool>& data) {
  onnx::TensorProto* tensor = impl_->tensor(name, shape, onnx::TensorProto_DataType_BOOL);
  for (const bool v : data) tensor->add_int32_data(v ? 1 : 0);
  return name;
}

std::vector<std::string> OnnxBuilder::split(const std::string& name, const std::string& x, int64_t axis, const Shape& sizes) {
  std::vector<std::string> parts{node("Split", name, {x, shape_constant(name + ".sizes", sizes)}, {integer("axis", axis)})};
  auto* nodes = impl_->model.mutable_graph()->mutable_node();
  while (parts.size() < sizes.size()) {
    parts.push_back(name + ".out" + std::to_string(parts.size()));
    nodes->Mutable(nodes->size() - 1)->add_output(parts.back());
  }
  return parts;
}

std::string OnnxBuilder::node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
                              const std::vector<Attribute>& attributes) {
  auto* n = impl_->model.mutable_graph()->add_node();
  n->set_op_type(op);
  n->set_name(name);
  for (const std::string& i : inputs) n->add_input(i);
  const std::string out = name + ".out";
  n->add_output(out);
  for (const Attribute& a : attributes) {
    auto* attribute = n->add_attribute();
    attribute->set_name(a.name);
    switch (a.kind) {
      case Attribute::Kind::integer:
        attribute->set_type(onnx::AttributeProto_AttributeType_INT);
        attribute->set_i(a.i);
        break;
      case Attribute::Kind::integers:
        attribute->set_type(onnx::AttributeProto_AttributeType_INTS);
        for (const int64_t v : a.ints) attribute->add_ints(v);
        break;
      case Attribute::Kind::real:
        attribute->set_type(onnx::AttributeProto_AttributeType_FLOAT);
        attribute->set_f(a.f);
        break;
    }
  }
  return out;
}

std::string OnnxBuilder::random(const std::string& name, const Shape& shape, double mean, double deviation) {
  int64_t elements = 1;
  for (const int64_t d : shape) elements *= d;
  impl_->drawn.emplace(impl_->model.graph().initializer_size(), OnnxModel::Normal{elements, mean, deviation, rng_});
  impl_->tensor(name, shape, onnx::TensorProto_DataType_FLOAT);
  rng_.skip(2 * static_cast<uint64_t>(elements));  // as drawing them would
  return name;
}

std::string OnnxBuilder::conv(const std::string& name, const std::string& x, const Conv& c) {
  return conv(
      name, x,
      WindowConv{
          .in = c.in, .out = c.out, .kernel = {c.kernel, c.kernel}, .stride = {c.stride, c.stride}, .pad = {c.pad, c.pad}, .groups = c.groups, .bias = c.bias});
}

std::string OnnxBuilder::conv(const std::string& name, const std::string& x, const WindowConv& c) {
  Shape shape{c.out, c.in / c.groups}, pads = c.pad;
  shape.insert(shape.end(), c.kernel.begin(), c.kernel.end());
  pads.insert(pads.end(), c.pad.begin(), c.pad.end());
  double fan_in = 1;
  for (size_t d = 1; d < shape.size(); ++d) fan_in *= static_cast<double>(shape[d]);
  std::vector<std::string> inputs = {x, random(name + ".weight", shape, 0, std::sqrt(2.0 / fan_in))};
  if (c.bias) inputs.push_back(random(name + ".bias", {c.out}, 0, 0.05));
  return node("Conv", name, inputs,
              {integers("dilations", Shape(c.kernel.size(), 1)), integer("group", c.groups), integers("kernel_shape", c.kernel), integers("pads", pads),
               integers("strides", c.stride)});
}

std::string OnnxBuilder::batch_norm(const std::string& name, const std::string& x, int64_t channels, double gain, float epsilon) {
  const std::string scale = random(name + ".weight", {channels}, gain, 0.1 * gain);
  const std::string bias = random(name + ".bias", {channels}, 0, 0.1);
  const std::string mean = random(name + ".running_mean", {channels}, 0, 0.1);
  std::vector<float> variance(static_cast<size_t>(channels));
  for (float& v : variance) v = static_cast<float>(0.9 + 0.6 * rng_.uniform_real());
  initializer(name + ".running_var", {channels}, variance);
  return node("BatchNormalization", name, {x, scale, bias, mean, name + ".running_var"}, {real("epsilon", epsilon)});
}

std::string OnnxBuilder::gemm(const std::string& name, const std::string& x, int64_t in, int64_t out) {
  const std::string weight = random(name + ".weight", {out, in}, 0, std::sqrt(2.0 / static_cast<double>(in)));
  const std::string bias = random(name + ".bias", {out}, 0, 0.05);
  return node("Gemm", name, {x, weight, bias}, {integer("transB", 1)});
}

std::string OnnxBuilder::linear(const std::string& name, const std::string& x, int64_t in, int64_t out) {
  const std::string weight = random(name + ".weight", {in, out}, 0, 1 / std::sqrt(static_cast<double>(in)));
  const std::string bias = random(name + ".bias", {out}, 0, 0.05);
  return node("Add", name, {node("MatMul", name + ".matmul", {x, weight}), bias});
}

std::string OnnxBuilder::relu6(const std::string& name, const std::string& x) {
  if (!impl_->has_relu6_bounds) {
    initializer("relu6.min", {}, {0.0F});
    initializer("relu6.max", {}, {6.0F});
    impl_->has_relu6_bounds = true;
  }
  return node("Clip", name, {x, "relu6.min", "relu6.max"});
}

std::string OnnxBuilder::max_pool(const std::string& name, const std::string& x, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode) {
  return node("MaxPool", name, {x},
              {integer("ceil_mode", ceil_mode ? 1 : 0), integers("kernel_shape", {kernel, kernel}), integers("pads", {pad, pad, pad, pad}),
               integers("strides", {stride, stride})});
}

std::string OnnxBuilder::average_pool(const std::string& name, const std::string& x, int64_t kernel, int64_t stride, int64_t pad) {
  return node("AveragePool", name, {x},
              {integer("count_include_pad", 1), integers("kernel_shape", {kernel, kernel}), integers("pads", {pad, pad, pad, pad}),
               integers("strides", {stride, stride})});
}

OnnxModel OnnxBuilder::finish() {
  // Fields go by their numbers, as the library writes them: nodes before initializers, inputs and outputs after them, and the graph before the opset.
  onnx::GraphProto& graph = *impl_->model.mutable_graph();
  onnx::GraphProto ends;
  ends.mutable_input()->Swap(graph.mutable_input());
  ends.mutable_output()->Swap(graph.mutable_output());
  google::protobuf::RepeatedPtrField<onnx::TensorProto> initializers;
  initializers.Swap(graph.mutable_initializer());
  OnnxModel middle;
  middle.append(graph.SerializeAsString());
  for (int i = 0; i < initializers.size(); ++i) {
    std::string tensor = initializers[i].SerializeAsString();
    const auto drawn = impl_->drawn.find(i);
    const int64_t bytes = drawn == impl_->drawn.end() ? 0 : drawn->second.elements * static_cast<int64_t>(sizeof(float));
    if (bytes > 0) tensor += field_head(onnx::TensorProto::kRawDataFieldNumber, bytes);
    middle.append(field_head(onnx::GraphProto::kInitializerFieldNumber, static_cast<int64_t>(tensor.size()) + bytes) + tensor);
    if (bytes > 0) middle.append(drawn->second);
  }
  middle.append(ends.SerializeAsString());
  onnx::ModelProto opset;
  opset.mutable_opset_import()->Swap(impl_->model.mutable_opset_import());
  impl_->model.clear_graph();
  OnnxModel model;
  model.append(impl_->model.SerializeAsString() + field_head(onnx::ModelProto::kGraphFieldNumber, middle.size()));
  model.append(std::move(middle));
  model.append(opset.SerializeAsString());
  return model;
}

}  // namespace tw::frontends
