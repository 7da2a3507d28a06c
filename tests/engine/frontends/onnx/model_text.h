// SPDX-License-Identifier: Apache-2.0
#pragma once

#define ONNX_ML 1
#define ONNX_NAMESPACE onnx
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

/// Small models written by hand for the tests of the reader.
namespace onnx_test {

using Dims = std::vector<int64_t>;

inline onnx::ModelProto model(int64_t opset = 13) {
  onnx::ModelProto m;
  m.set_ir_version(7);
  m.add_opset_import()->set_version(opset);
  m.mutable_graph()->set_name("test");
  return m;
}
inline onnx::ValueInfoProto* input(onnx::ModelProto& m, const std::string& name, const Dims& shape, int type = onnx::TensorProto::FLOAT) {
  onnx::ValueInfoProto* v = m.mutable_graph()->add_input();
  v->set_name(name);
  auto* t = v->mutable_type()->mutable_tensor_type();
  t->set_elem_type(type);
  t->mutable_shape();
  for (const int64_t d : shape) t->mutable_shape()->add_dim()->set_dim_value(d);
  return v;
}
inline void output(onnx::ModelProto& m, const std::string& name) { m.mutable_graph()->add_output()->set_name(name); }
inline onnx::NodeProto* node(onnx::GraphProto& g, const std::string& op, const std::vector<std::string>& inputs, const std::string& result) {
  onnx::NodeProto* n = g.add_node();
  n->set_op_type(op);
  n->set_name(result + "_node");
  for (const auto& i : inputs) n->add_input(i);
  n->add_output(result);
  return n;
}
inline onnx::NodeProto* node(onnx::ModelProto& m, const std::string& op, const std::vector<std::string>& inputs, const std::string& result) {
  return node(*m.mutable_graph(), op, inputs, result);
}
inline void integer(onnx::NodeProto* n, const std::string& name, int64_t v) {
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(v);
}
inline void integers(onnx::NodeProto* n, const std::string& name, const Dims& v) {
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (const int64_t x : v) a->add_ints(x);
}
inline onnx::TensorProto* floats(onnx::ModelProto& m, const std::string& name, const Dims& shape, const std::vector<float>& v) {
  onnx::TensorProto* t = m.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t d : shape) t->add_dims(d);
  for (const float x : v) t->add_float_data(x);
  return t;
}
inline onnx::TensorProto* longs(onnx::ModelProto& m, const std::string& name, const Dims& v) {
  onnx::TensorProto* t = m.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(onnx::TensorProto::INT64);
  t->add_dims(static_cast<int64_t>(v.size()));
  for (const int64_t x : v) t->add_int64_data(x);
  return t;
}
inline std::string bytes(const onnx::ModelProto& m) { return m.SerializeAsString(); }

}  // namespace onnx_test
