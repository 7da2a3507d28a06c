// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// Normalisation and ReLU stand before the convolution here: their scales fold forwards into it.
std::string norm_relu_conv(OnnxBuilder& b, const std::string& name, const std::string& index, const std::string& x, const OnnxBuilder::Conv& c) {
  const std::string normed = b.batch_norm(name + ".norm" + index, x, c.in);
  return b.conv(name + ".conv" + index, b.relu(name + ".relu" + index, normed), c);
}

}  // namespace

Expected<OnnxModel> build_densenet121(const ZooOptions& options) {
  const std::array<int, 4> full = {6, 12, 24, 16}, tiny = {3, 4, 4, 3};
  const std::array<int, 4>& layers = options.tiny ? tiny : full;
  const int64_t growth = options.tiny ? 8 : 32, image = options.tiny ? 32 : 224, classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("densenet121", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  int64_t in = 2 * growth;
  x = b.conv("features.conv0", x, {.in = 3, .out = in, .kernel = 7, .stride = 2, .pad = 3});
  x = b.max_pool("features.pool0", b.relu("features.relu0", b.batch_norm("features.norm0", x, in)), 3, 2, 1);
  for (size_t block = 0; block < layers.size(); ++block) {
    for (int layer = 0; layer < layers[block]; ++layer) {
      const std::string name = "features.denseblock" + std::to_string(block + 1) + ".denselayer" + std::to_string(layer + 1);
      const std::string narrow = norm_relu_conv(b, name, "1", x, {.in = in, .out = 4 * growth, .kernel = 1});
      const std::string fresh = norm_relu_conv(b, name, "2", narrow, {.in = 4 * growth, .out = growth, .kernel = 3, .pad = 1});
      x = b.node("Concat", name + ".concat", {x, fresh}, {OnnxBuilder::integer("axis", 1)});
      in += growth;
    }
    if (block + 1 == layers.size()) break;
    const std::string name = "features.transition" + std::to_string(block + 1);
    x = b.average_pool(name + ".pool", norm_relu_conv(b, name, "", x, {.in = in, .out = in / 2, .kernel = 1}), 2, 2);
    in /= 2;
  }
  x = b.relu("relu", b.batch_norm("features.norm5", x, in));
  x = b.node("Flatten", "flatten", {b.node("GlobalAveragePool", "avgpool", {x})}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("classifier", x, in, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
