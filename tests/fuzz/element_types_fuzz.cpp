// SPDX-License-Identifier: Apache-2.0
// Tensors of ONNX's element types, of 2 bits to 64, in all the ways that files hold them, through what takes them: an error with a sentence, or a graph that verifies
// and can be evaluated. Casts to a type of few bits and back change nothing the second time.
#include <fuzzer/FuzzedDataProvider.h>

#include "engine/frontends/frontend.h"
#include "engine/graph/evaluate.h"
#include "tests/engine/frontends/onnx/model_text.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace tw;
using namespace onnx_test;

constexpr int kTypes = 30;  ///< two more than there are

int64_t element_type(FuzzedDataProvider& bytes) { return bytes.ConsumeIntegralInRange<int>(0, 15) == 0 ? bytes.ConsumeIntegral<int32_t>() : bytes.ConsumeIntegralInRange<int64_t>(0, kTypes); }

void text(onnx::NodeProto* n, const std::string& name, const std::string& v) {
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(v);
}

/// Mostly shapes that are small, at times ones that lie.
Dims shape(FuzzedDataProvider& bytes) {
  Dims s(bytes.ConsumeIntegralInRange<size_t>(0, 3));
  for (int64_t& d : s) d = bytes.ConsumeIntegralInRange<int>(0, 31) == 0 ? bytes.ConsumeIntegral<int64_t>() : bytes.ConsumeIntegralInRange<int64_t>(0, 5);
  return s;
}

void tensor(FuzzedDataProvider& bytes, onnx::ModelProto& m, const std::string& name) {
  onnx::TensorProto* t = m.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(static_cast<int32_t>(element_type(bytes)));
  for (const int64_t d : shape(bytes)) t->add_dims(d);
  const auto count = bytes.ConsumeIntegralInRange<size_t>(0, 24);
  switch (bytes.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      t->set_raw_data(bytes.ConsumeBytesAsString(count));
      break;
    case 1:
      for (size_t i = 0; i < count; ++i) t->add_int32_data(bytes.ConsumeIntegral<int32_t>());
      break;
    case 2:
      for (size_t i = 0; i < count; ++i) t->add_float_data(bytes.ConsumeFloatingPoint<float>());
      break;
    case 3:
      for (size_t i = 0; i < count; ++i) t->add_int64_data(bytes.ConsumeIntegral<int64_t>());
      break;
    default: {
      t->set_data_location(onnx::TensorProto::EXTERNAL);
      auto* e = t->add_external_data();
      e->set_key("location");
      e->set_value(bytes.ConsumeRandomLengthString(8));
    }
  }
}

void operation(FuzzedDataProvider& bytes, onnx::ModelProto& m, const std::string& result, const std::vector<std::string>& known) {
  static const char* const kOps[] = {"Cast", "QuantizeLinear", "DequantizeLinear", "BitCast", "Identity", "Reshape", "Transpose", "Concat", "Gather", "Slice", "Expand", "CastLike", "Add", "Equal", "MatMul", "Where"};
  const std::string op = kOps[bytes.ConsumeIntegralInRange<size_t>(0, std::size(kOps) - 1)];
  std::vector<std::string> operands;
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(1, 3); k-- > 0;) operands.push_back(known[bytes.ConsumeIntegralInRange<size_t>(0, known.size() - 1)]);
  onnx::NodeProto* n = node(m, op, operands, result);
  static const char* const kNames[] = {"to", "axis", "block_size", "output_dtype", "precision", "saturate", "round_mode"};
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(0, 3); k-- > 0;) {
    const std::string name = kNames[bytes.ConsumeIntegralInRange<size_t>(0, std::size(kNames) - 1)];
    if (name == "round_mode")
      text(n, name, bytes.ConsumeBool() ? "up" : "nearest");
    else
      integer(n, name, bytes.ConsumeBool() ? element_type(bytes) : bytes.ConsumeIntegral<int64_t>());
  }
  if (op == "Cast" && n->attribute_size() == 0) integer(n, "to", element_type(bytes));
}

int64_t elements_of(const graph::Graph& g) {
  int64_t n = 0;
  for (const graph::Value& v : g.values) n += std::min<int64_t>(v.type.num_elements(), 1 << 20);
  return n;
}

/// The results of a graph of constants; none where it is not accepted.
std::vector<HostArray> results_of(const onnx::ModelProto& m) {
  const auto g = frontends::read_onnx_bytes(bytes(m), {});
  if (!g) {
    fuzz::require(!g.error().message.empty() && g.error().code != ErrorCode::internal, "An error of the user's file", g.error().text());
    return {};
  }
  const auto ok = graph::verify(*g);
  fuzz::require(ok.has_value(), "An imported graph verifies", ok ? "" : ok.error().text());
  if (elements_of(*g) > 1 << 14) return {};
  std::map<std::string, HostArray> inputs;
  for (const int v : g->inputs) inputs.emplace(g->values[static_cast<size_t>(v)].name, HostArray::make(g->values[static_cast<size_t>(v)].type.dtype, g->values[static_cast<size_t>(v)].type.shape));
  auto results = graph::evaluate(*g, inputs);
  if (!results) fuzz::require(!results.error().message.empty() && results.error().code != ErrorCode::internal, "An error of evaluation", results.error().text());
  return results ? std::move(*results) : std::vector<HostArray>();
}

/// What was rounded to a type of few bits, whose numbers float32 holds, keeps its value when it is rounded to it again.
void rounded_once(FuzzedDataProvider& bytes) {
  onnx::ModelProto m = model(28);
  const auto type = bytes.ConsumeIntegralInRange<int64_t>(1, 28);
  for (const int wide : {onnx::TensorProto::INT32, onnx::TensorProto::INT64, onnx::TensorProto::UINT32, onnx::TensorProto::UINT64, onnx::TensorProto::DOUBLE})
    if (type == wide) return;
  const auto count = bytes.ConsumeIntegralInRange<size_t>(1, 16);
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(bytes.ConsumeFloatingPoint<float>());
  floats(m, "x", {static_cast<int64_t>(count)}, numbers);
  const int64_t saturate = bytes.ConsumeBool();
  std::string v = "x";
  for (const char* stage : {"a", "b"}) {
    onnx::NodeProto* to = node(m, "Cast", {v}, std::string(stage) + "_few");
    integer(to, "to", type);
    integer(to, "saturate", saturate);
    integer(node(m, "Cast", {std::string(stage) + "_few"}, stage), "to", onnx::TensorProto::FLOAT);
    v = stage;
    output(m, stage);
  }
  const std::vector<HostArray> y = results_of(m);
  for (int64_t i = 0; y.size() == 2 && i < y[0].num_elements(); ++i) {
    const double once = y[0].get(i), twice = y[1].get(i);
    // Infinity is the largest number, or none, in types that have no other.
    fuzz::require(once == twice || once != once || once - once != 0, "Rounded once", std::to_string(type) + ": " + std::to_string(once) + " becomes " + std::to_string(twice));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  if (bytes.ConsumeIntegralInRange<int>(0, 3) == 0) {
    rounded_once(bytes);
    return 0;
  }
  onnx::ModelProto m = model(bytes.ConsumeIntegralInRange<int64_t>(13, 28));
  std::vector<std::string> known;
  input(m, "in", shape(bytes), static_cast<int>(element_type(bytes)));
  known.emplace_back("in");
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(1, 3); k-- > 0;) {
    known.push_back("t" + std::to_string(known.size()));
    tensor(bytes, m, known.back());
  }
  for (size_t k = bytes.ConsumeIntegralInRange<size_t>(1, 4); k-- > 0;) {
    const std::string result = "y" + std::to_string(known.size());
    operation(bytes, m, result, known);
    known.push_back(result);
  }
  output(m, known.back());
  results_of(m);
  return 0;
}
