// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

struct Stage {
  int64_t expansion, channels, repeats, stride;
};

std::string conv_bn_relu6(OnnxBuilder& b, const std::string& name, const std::string& x, const OnnxBuilder::Conv& c) {
  return b.relu6(name + ".2", b.batch_norm(name + ".1", b.conv(name + ".0", x, c), c.out));
}

/// Expand by 1x1, filter each channel by 3x3, project by 1x1 without an activation; a shortcut where shapes allow.
std::string inverted_residual(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, const Stage& s, int64_t stride) {
  const int64_t hidden = in * s.expansion;
  std::string y = x;
  if (s.expansion != 1) y = conv_bn_relu6(b, name + ".expand", y, {.in = in, .out = hidden, .kernel = 1});
  y = conv_bn_relu6(b, name + ".depthwise", y, {.in = hidden, .out = hidden, .kernel = 3, .stride = stride, .pad = 1, .groups = hidden});
  y = b.conv(name + ".project.0", y, {.in = hidden, .out = s.channels, .kernel = 1});
  y = b.batch_norm(name + ".project.1", y, s.channels, 0.7);
  if (stride != 1 || in != s.channels) return y;
  return b.node("Add", name + ".add", {x, y});
}

}  // namespace

Expected<OnnxModel> build_mobilenet_v2(const ZooOptions& options) {
  const std::vector<Stage> stages =
      options.tiny ? std::vector<Stage>{{1, 8, 1, 1}, {3, 8, 2, 2}, {3, 16, 2, 2}, {3, 16, 2, 2}, {3, 24, 2, 1}, {3, 32, 2, 2}, {3, 40, 1, 1}}
                   : std::vector<Stage>{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  const int64_t image = options.tiny ? 32 : 224, classes = options.tiny ? 10 : 1000;
  const int64_t first = options.tiny ? 16 : 32, last = options.tiny ? 64 : 1280;
  OnnxBuilder b("mobilenet_v2", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  x = conv_bn_relu6(b, "features.0", x, {.in = 3, .out = first, .kernel = 3, .stride = 2, .pad = 1});
  int64_t in = first;
  int index = 1;
  for (const Stage& s : stages)
    for (int64_t r = 0; r < s.repeats; ++r) {
      x = inverted_residual(b, "features." + std::to_string(index++), x, in, s, r == 0 ? s.stride : 1);
      in = s.channels;
    }
  x = conv_bn_relu6(b, "features." + std::to_string(index), x, {.in = in, .out = last, .kernel = 1});
  x = b.node("GlobalAveragePool", "avgpool", {x});
  x = b.node("Flatten", "flatten", {x}, {OnnxBuilder::integer("axis", 1)});
  x = b.node("Dropout", "classifier.0", {x});
  b.output(b.gemm("classifier.1", x, last, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
