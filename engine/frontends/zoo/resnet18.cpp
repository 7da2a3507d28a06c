// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// Two 3x3 convolutions around a shortcut; a 1x1 convolution on the shortcut where the shape changes.
std::string basic_block(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out, int64_t stride) {
  std::string y = b.conv(name + ".conv1", x, {.in = in, .out = out, .kernel = 3, .stride = stride, .pad = 1});
  y = b.relu(name + ".relu1", b.batch_norm(name + ".bn1", y, out));
  y = b.conv(name + ".conv2", y, {.in = out, .out = out, .kernel = 3, .pad = 1});
  y = b.batch_norm(name + ".bn2", y, out, 0.5);
  std::string shortcut = x;
  if (stride != 1 || in != out) {
    shortcut = b.conv(name + ".downsample.0", x, {.in = in, .out = out, .kernel = 1, .stride = stride});
    shortcut = b.batch_norm(name + ".downsample.1", shortcut, out);
  }
  return b.relu(name + ".relu2", b.node("Add", name + ".add", {y, shortcut}));
}

}  // namespace

Expected<OnnxModel> build_resnet18(const ZooOptions& options) {
  const std::array<int64_t, 4> widths = options.tiny ? std::array<int64_t, 4>{16, 32, 48, 64} : std::array<int64_t, 4>{64, 128, 256, 512};
  const int64_t image = options.tiny ? 32 : 224, classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("resnet18", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  x = b.conv("conv1", x, {.in = 3, .out = widths[0], .kernel = 7, .stride = 2, .pad = 3});
  x = b.relu("relu", b.batch_norm("bn1", x, widths[0]));
  x = b.max_pool("maxpool", x, 3, 2, 1);
  int64_t in = widths[0];
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    const std::string name = "layer" + std::to_string(stage + 1);
    x = basic_block(b, name + ".0", x, in, widths[stage], stage == 0 ? 1 : 2);
    x = basic_block(b, name + ".1", x, widths[stage], widths[stage], 1);
    in = widths[stage];
  }
  x = b.node("GlobalAveragePool", "avgpool", {x});
  x = b.node("Flatten", "flatten", {x}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("fc", x, in, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
