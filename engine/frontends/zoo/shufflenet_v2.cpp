// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

std::string conv_bn(OnnxBuilder& b, const std::string& name, const std::string& x, const OnnxBuilder::Conv& c) {
  return b.batch_norm(name + ".bn", b.conv(name, x, c), c.out);
}
std::string pointwise(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out) {
  return b.relu(name + ".relu", conv_bn(b, name, x, {.in = in, .out = out, .kernel = 1}));
}
std::string depthwise(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t channels, int64_t stride) {
  return conv_bn(b, name, x, {.in = channels, .out = channels, .kernel = 3, .stride = stride, .pad = 1, .groups = channels});
}

/// Interleaves the two halves of the channels: reshape, transpose, reshape.
std::string shuffle(OnnxBuilder& b, const std::string& name, const std::string& x, const OnnxBuilder::Shape& shape) {
  const std::string split = b.shape_constant(name + ".split", {shape[0], 2, shape[1] / 2, shape[2], shape[3]});
  const std::string joined = b.shape_constant(name + ".join", shape);
  const std::string swapped =
      b.node("Transpose", name + ".transpose", {b.node("Reshape", name + ".reshape1", {x, split})}, {OnnxBuilder::integers("perm", {0, 2, 1, 3, 4})});
  return b.node("Reshape", name + ".reshape2", {swapped, joined});
}

struct Unit {
  int64_t in, out, stride;
  OnnxBuilder::Shape shape;  ///< of the result
};

std::string unit(OnnxBuilder& b, const std::string& name, const std::string& x, const Unit& u) {
  const int64_t half = u.out / 2;
  std::string left, right = x;
  if (u.stride == 1) {
    const auto halves = b.split(name + ".split", x, 1, {half, half});
    left = halves[0];
    right = halves[1];
  } else {
    left = pointwise(b, name + ".branch1.2", depthwise(b, name + ".branch1.0", x, u.in, u.stride), u.in, half);
  }
  right = pointwise(b, name + ".branch2.0", right, u.stride == 1 ? half : u.in, half);
  right = pointwise(b, name + ".branch2.5", depthwise(b, name + ".branch2.3", right, half, u.stride), half, half);
  return shuffle(b, name + ".shuffle", b.node("Concat", name + ".concat", {left, right}, {OnnxBuilder::integer("axis", 1)}), u.shape);
}

}  // namespace

Expected<OnnxModel> build_shufflenet_v2(const ZooOptions& options) {
  const std::array<int64_t, 5> full = {24, 116, 232, 464, 1024}, tiny = {8, 16, 32, 64, 64};
  const std::array<int64_t, 5>& widths = options.tiny ? tiny : full;
  const std::array<int, 3> repeats = {4, 8, 4};
  int64_t image = options.tiny ? 32 : 224;
  const int64_t classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("shufflenet_v2", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  x = b.relu("conv1.relu", conv_bn(b, "conv1", x, {.in = 3, .out = widths[0], .kernel = 3, .stride = 2, .pad = 1}));
  x = b.max_pool("maxpool", x, 3, 2, 1);
  image /= 4;
  int64_t in = widths[0];
  for (size_t stage = 0; stage < repeats.size(); ++stage) {
    const int64_t out = widths[stage + 1];
    image = (image + 1) / 2;
    for (int r = 0; r < repeats[stage]; ++r) {
      const std::string name = "stage" + std::to_string(stage + 2) + "." + std::to_string(r);
      x = unit(b, name, x, {in, out, r == 0 ? 2 : 1, {options.batch, out, image, image}});
      in = out;
    }
  }
  x = pointwise(b, "conv5", x, in, widths[4]);
  x = b.node("Flatten", "flatten", {b.node("GlobalAveragePool", "avgpool", {x})}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("fc", x, widths[4], classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
