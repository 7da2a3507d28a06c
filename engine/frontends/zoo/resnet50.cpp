// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

constexpr int64_t kExpansion = 4;

/// 1x1 down to `width` channels, 3x3 (with the stride), 1x1 up to four times as many, around a shortcut.
std::string bottleneck(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t width, int64_t stride) {
  const int64_t out = width * kExpansion;
  std::string y = b.conv(name + ".conv1", x, {.in = in, .out = width, .kernel = 1});
  y = b.relu(name + ".relu1", b.batch_norm(name + ".bn1", y, width));
  y = b.conv(name + ".conv2", y, {.in = width, .out = width, .kernel = 3, .stride = stride, .pad = 1});
  y = b.relu(name + ".relu2", b.batch_norm(name + ".bn2", y, width));
  y = b.batch_norm(name + ".bn3", b.conv(name + ".conv3", y, {.in = width, .out = out, .kernel = 1}), out, 0.4);
  std::string shortcut = x;
  if (stride != 1 || in != out) {
    shortcut = b.conv(name + ".downsample.0", x, {.in = in, .out = out, .kernel = 1, .stride = stride});
    shortcut = b.batch_norm(name + ".downsample.1", shortcut, out);
  }
  return b.relu(name + ".relu3", b.node("Add", name + ".add", {y, shortcut}));
}

}  // namespace

Expected<OnnxModel> build_resnet50(const ZooOptions& options) {
  const std::array<int64_t, 4> widths = options.tiny ? std::array<int64_t, 4>{8, 8, 16, 16} : std::array<int64_t, 4>{64, 128, 256, 512};
  const std::array<int, 4> blocks = {3, 4, 6, 3};
  const int64_t image = options.tiny ? 32 : 224, classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("resnet50", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  int64_t in = widths[0];
  x = b.conv("conv1", x, {.in = 3, .out = in, .kernel = 7, .stride = 2, .pad = 3});
  x = b.max_pool("maxpool", b.relu("relu", b.batch_norm("bn1", x, in)), 3, 2, 1);
  for (size_t stage = 0; stage < widths.size(); ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      x = bottleneck(b, name, x, in, widths[stage], stage > 0 && block == 0 ? 2 : 1);
      in = widths[stage] * kExpansion;
    }
  x = b.node("Flatten", "flatten", {b.node("GlobalAveragePool", "avgpool", {x})}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("fc", x, in, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
