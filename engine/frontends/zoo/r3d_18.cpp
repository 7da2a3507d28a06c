// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

std::string conv3(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out, int64_t stride) {
  return b.conv(name, x, OnnxBuilder::WindowConv{.in = in, .out = out, .kernel = {3, 3, 3}, .stride = {stride, stride, stride}, .pad = {1, 1, 1}});
}

/// Two 3x3x3 convolutions around a shortcut.
std::string basic_block_3d(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out, int64_t stride) {
  std::string y = conv3(b, name + ".conv1.0", x, in, out, stride);
  y = b.relu(name + ".conv1.2", b.batch_norm(name + ".conv1.1", y, out));
  y = b.batch_norm(name + ".conv2.1", conv3(b, name + ".conv2.0", y, out, out, 1), out, 0.5);
  std::string shortcut = x;
  if (stride != 1 || in != out) {
    shortcut = b.conv(name + ".downsample.0", x,
                      OnnxBuilder::WindowConv{.in = in, .out = out, .kernel = {1, 1, 1}, .stride = {stride, stride, stride}, .pad = {0, 0, 0}});
    shortcut = b.batch_norm(name + ".downsample.1", shortcut, out);
  }
  return b.relu(name + ".relu", b.node("Add", name + ".add", {y, shortcut}));
}

}  // namespace

Expected<OnnxModel> build_r3d_18(const ZooOptions& options) {
  const std::array<int64_t, 4> widths = options.tiny ? std::array<int64_t, 4>{8, 8, 16, 16} : std::array<int64_t, 4>{64, 128, 256, 512};
  const int64_t frames = options.tiny ? 4 : 16, image = options.tiny ? 16 : 112, classes = options.tiny ? 10 : 400;
  OnnxBuilder b("r3d_18", options.seed);
  std::string x = b.input("video", {options.batch, 3, frames, image, image});
  int64_t in = widths[0];
  x = b.conv("stem.0", x, OnnxBuilder::WindowConv{.in = 3, .out = in, .kernel = {3, 7, 7}, .stride = {1, 2, 2}, .pad = {1, 3, 3}});
  x = b.relu("stem.2", b.batch_norm("stem.1", x, in));
  for (size_t stage = 0; stage < widths.size(); ++stage)
    for (int block = 0; block < 2; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      x = basic_block_3d(b, name, x, in, widths[stage], stage > 0 && block == 0 ? 2 : 1);
      in = widths[stage];
    }
  x = b.node("Flatten", "flatten", {b.node("GlobalAveragePool", "avgpool", {x})}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("fc", x, in, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
