// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/frontends/zoo/onnx_model.h"

namespace tw::frontends {

/// Writes an ONNX model node by node. Values are named by strings, as in the file; every maker returns the name of its output.
class OnnxBuilder {
 public:
  /// `opset` is 13 or 17 (which has LayerNormalization).
  OnnxBuilder(const std::string& name, uint64_t seed, int64_t opset = 13);
  ~OnnxBuilder();
  OnnxBuilder(const OnnxBuilder&) = delete;
  OnnxBuilder& operator=(const OnnxBuilder&) = delete;

  using Shape = std::vector<int64_t>;
  /// An attribute: an integer, a list of integers or a real number, by the field that is set.
  struct Attribute {
    std::string name;
    enum class Kind : uint8_t { integer, integers, real } kind;
    int64_t i = 0;
    Shape ints = {};
    float f = 0;
  };
  static Attribute integer(const std::string& name, int64_t v) { return {name, Attribute::Kind::integer, v}; }
  static Attribute integers(const std::string& name, Shape v) { return {name, Attribute::Kind::integers, 0, std::move(v)}; }
  static Attribute real(const std::string& name, float v) { return {name, Attribute::Kind::real, 0, {}, v}; }

  std::string input(const std::string& name, const Shape& shape);
  /// An input of int64 numbers.
  std::string integer_input(const std::string& name, const Shape& shape);
  void output(const std::string& value, const Shape& shape);
  std::string initializer(const std::string& name, const Shape& shape, const std::vector<float>& data);
  std::string boolean_constant(const std::string& name, const Shape& shape, const std::vector<bool>& data);
  /// A one-dimensional initializer of integers, as Reshape wants its shape.
  std::string shape_constant(const std::string& name, const Shape& shape);
  std::string node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs, const std::vector<Attribute>& attributes = {});

  /// Normally distributed with the given mean and deviation; drawn when the model is written.
  std::string random(const std::string& name, const Shape& shape, double mean, double deviation);

  struct Conv {
    int64_t in, out, kernel;
    int64_t stride = 1, pad = 0, groups = 1;
    bool bias = false;
  };
  /// The same for windows of any rank and form; `pad` is the padding on both sides of each dimension.
  struct WindowConv {
    int64_t in, out;
    Shape kernel, stride, pad;
    int64_t groups = 1;
    bool bias = false;
  };
  /// Weights scaled for rectified activations: deviation sqrt(2 / fan-in). Source: He et al., ICCV 2015.
  std::string conv(const std::string& name, const std::string& x, const Conv& c);
  std::string conv(const std::string& name, const std::string& x, const WindowConv& c);
  /// Inference-time statistics near those of unit-variance data, so that activations stay bounded; `gain` is the mean of the scale.
  std::string batch_norm(const std::string& name, const std::string& x, int64_t channels, double gain = 1.0, float epsilon = 1e-5F);
  /// y = x W^T + b with W of shape [out, in].
  std::string gemm(const std::string& name, const std::string& x, int64_t in, int64_t out);
  /// x W + b over the last dimension, with W of shape [in, out], as a product and an addition.
  std::string linear(const std::string& name, const std::string& x, int64_t in, int64_t out);
  std::string relu(const std::string& name, const std::string& x) { return node("Relu", name, {x}); }
  /// Clip to [0, 6].
  std::string relu6(const std::string& name, const std::string& x);
  std::string max_pool(const std::string& name, const std::string& x, int64_t kernel, int64_t stride, int64_t pad, bool ceil_mode = false);
  /// Padding counts as zeros in the mean.
  std::string average_pool(const std::string& name, const std::string& x, int64_t kernel, int64_t stride, int64_t pad = 0);

  /// Parts of the given sizes along one dimension.
  std::vector<std::string> split(const std::string& name, const std::string& x, int64_t axis, const Shape& sizes);

  /// The serialised ModelProto; nothing may be added after it.
  OnnxModel finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  Rng rng_;
};

}  // namespace tw::frontends
